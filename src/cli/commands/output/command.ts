import { define, listUsualExits } from "../definition.js";
import { defineChoice } from "../flag-values.js";
import { flags } from "../flags.js";

export const output = define({
  name: "output",
  summary: "print the result of a completed request",
  description:
    "Fetch the result. In a pipe or a file it is exact; on a terminal Markdown is laid out for reading.",
  arguments: [["[id]", "an id, a unique prefix of one made here, or @last; you choose if none is given"]],
  flags: {
    "Result:": {
      ...flags.result,
      ...flags.partial,
      "--bibliography <format>": defineChoice("print the sources alone, as CSL-JSON or RIS", ["csl", "ris"]),
      "--schema <file|-|json>":
        "the JSON Schema to check the result against (default: the one it was asked for)",
    },
    "Waiting:": { "-w, --watch": "wait for it first", ...flags.pace },
  },
  output: "the result: text as it is, anything else as indented JSON; --json: all of the data on one line",
  exits: { 0: "done", 8: "not finished yet", ...listUsualExits(3, 4, 5, 6, 7, 9, 10, 11, 13) },
  examples: [
    "research output @last",
    "research output -w 3f2a -o report.md",
    "research output @last --bibliography ris -o sources.ris",
  ],
  run: async () => (await import("./run.js")).runOutput,
});
