import { EXIT_CODE_MEANINGS } from "../exit-codes.js";
import type { Topic } from "../topic.js";
import { definitions, wrap } from "../wrap.js";

export const exitCodes: Topic = {
  name: "exit-codes",
  summary: "what each exit code means",
  text: [
    "Exit codes are the same with --json and without.\n\n",
    definitions(EXIT_CODE_MEANINGS.map(({ codes, meaning }) => [codes.join(", "), meaning])),
    "\n",
    wrap(
      "`run` and `create -w` end with 8 whatever ended the wait, once the id is known: the request exists, and " +
        "the error names the command that goes on.",
      0,
    ),
    "\n\n",
    wrap(
      "Several ids: an error beats 3, which beats 10, which beats 8, which beats 0. A closed pipe (`| head -1`) is " +
        "no error.",
      0,
    ),
    "\n",
  ].join(""),
};
