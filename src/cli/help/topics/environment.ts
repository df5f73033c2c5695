import { VARIABLES } from "../environment.js";
import type { Topic } from "../topic.js";
import { definitions, wrap } from "../wrap.js";

export const environment: Topic = {
  name: "environment",
  summary: "the environment variables",
  text: [
    wrap(
      "An empty variable is an unset one. A variable that switches something on takes 1, true or yes; 0, false and " +
        "no leave it off. A flag beats its variable.",
      0,
    ),
    "\n\n",
    definitions(
      VARIABLES.map(({ name, description, flag }) => [name, flag ? `${description} (${flag})` : description]),
    ),
    "\n",
    wrap(
      "A command of --on-done gets RESEARCH_REQUEST_ID, RESEARCH_STATUS and, where the result went to a file, " +
        "RESEARCH_RESULT_FILE.",
      0,
    ),
    "\n",
  ].join(""),
};
