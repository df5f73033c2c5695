import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { defineRepeatable } from "../flag-values.js";
import { flags } from "../shared-flags.js";

export const compare = defineCommand({
  name: "compare",
  summary: "ask several accounts the same question and compare the reports",
  description:
    "Submit the question once to each account that you name with -p, and wait for all results. Write the reports to a folder, with a list " +
    "of the statements in which they agree or differ. Run the same command again to resume: nothing is sent twice.",
  arguments: [["[prompt]", "the question; if it is - or missing, it is read from stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.dryRun },
    "Accounts:": {
      "--model <profile=name>": defineRepeatable("the model for one account; may be repeated"),
      ...flags.perDay,
    },
    "Waiting:": { ...flags.pace, ...flags.notify },
    "Result:": {
      "-o, --output <dir>":
        "the folder to write to (default: `research-compare-` and a hash of the question and the accounts)",
      "--html": "also write index.html and a page for each report",
      ...flags.check,
    },
  },
  output:
    "the text of index.md; with --json, one object with prompt, dir, accounts, shared_sources and statements",
  exits: {
    0: "all COMPLETED; otherwise the worst outcome decides (research help exit-codes)",
    ...listUsualExitCodes(3, 4, 5, 6, 7, 8, 9, 10, 11, 14),
  },
  examples: ['research compare "How do tides form?" -p openai -p exa'],
  run: async () => (await import("./run.js")).compare,
});
