import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { defineChoice } from "../flag-values.js";
import { flags } from "../shared-flags.js";

export const output = defineCommand({
  name: "output",
  summary: "print the result of a completed request",
  description:
    "Print the result. In a pipe or a file the result is unchanged; on a terminal, Markdown is formatted for reading.",
  arguments: [
    ["[id]", "an id, a unique prefix of an id in the history, or @last; without one you choose from a list"],
  ],
  flags: {
    "Result:": {
      ...flags.result,
      ...flags.partial,
      "--bibliography <format>": defineChoice("print only the sources, as CSL-JSON or RIS", ["csl", "ris"]),
      "--schema <file|-|json>":
        "the JSON Schema to check the result against (default: the schema of the request)",
    },
    "Waiting:": { "-w, --watch": "wait until the request has ended", ...flags.pace },
  },
  output:
    "the result: a text unchanged (formatted on a terminal), any other value as indented JSON; with --json, the service's whole `data` on one line",
  exits: listUsualExitCodes(3, 4, 5, 6, 7, 8, 9, 10, 11, 13),
  examples: [
    "research output @last",
    "research output -w 3f2a -o report.md",
    "research output @last --bibliography ris -o sources.ris",
  ],
  run: async () => (await import("./run.js")).runOutput,
});
