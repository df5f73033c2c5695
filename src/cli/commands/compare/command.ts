import { define, listUsualExits } from "../definition.js";
import { defineRepeatable } from "../flag-values.js";
import { flags } from "../flags.js";

export const compare = define({
  name: "compare",
  summary: "ask several accounts the same question, side by side",
  description:
    "Create the question once at each profile that -p names, watch them together, and write each report and a table " +
    "of them, with what they differ and agree on, into a folder. The same command again goes on where it stopped, and sends nothing twice.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.dryRun },
    "Accounts:": {
      "--model <profile=name>": defineRepeatable("the model of an account; may be repeated"),
      ...flags.perDay,
    },
    "Waiting:": { ...flags.pace, ...flags.notify },
    "Result:": {
      "-o, --output <dir>": "the folder (default: research-compare- and a digest of the question)",
      "--html": "keep index.html and a page for each report in the folder, too",
      ...flags.check,
    },
  },
  output: "index.md; --json: one object with prompt, dir, accounts, shared_sources and statements",
  exits: {
    0: "all COMPLETED; if not, the code of the account that ended worst",
    ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14),
  },
  examples: ['research compare "How do tides form?" -p openai -p exa'],
  run: async () => (await import("./run.js")).compare,
});
