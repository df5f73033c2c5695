import { define, listUsualExits } from "../definition.js";
import { defineRepeatable } from "../flag-values.js";
import { flags } from "../flags.js";

export const compare = define({
  name: "compare",
  summary: "ask several accounts the same question and compare the reports",
  description:
    "Submit the question once at each profile that -p names, wait for all of them, and write the reports to a folder, " +
    "with a table of what they agree and differ on. Run the same command again to resume: nothing is sent twice.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.dryRun },
    "Accounts:": {
      "--model <profile=name>": defineRepeatable("the model for one account; may be repeated"),
      ...flags.perDay,
    },
    "Waiting:": { ...flags.pace, ...flags.notify },
    "Result:": {
      "-o, --output <dir>":
        "the folder to write to (default: research-compare- and a digest of the question)",
      "--html": "also write index.html and a page for each report",
      ...flags.check,
    },
  },
  output: "index.md; --json: one object with prompt, dir, accounts, shared_sources and statements",
  exits: {
    0: "all COMPLETED; otherwise the code of the account with the worst outcome",
    ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14),
  },
  examples: ['research compare "How do tides form?" -p openai -p exa'],
  run: async () => (await import("./run.js")).compare,
});
