import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { flags } from "../shared-flags.js";

export const run = defineCommand({
  name: "run",
  summary: "submit a question, wait, and print the result",
  description: "Run `create`, `watch` and `output` in one command. stdout is the result.",
  arguments: [["[prompt]", "the question; if it is - or missing, it is read from stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.once, ...flags.dryRun },
    "Account:": { ...flags.provider, ...flags.or },
    "Waiting:": { ...flags.pace, ...flags.notify },
    "Result:": { ...flags.result, ...flags.partial, ...flags.check },
    "Limits:": { ...flags.quota, ...flags.perDay, ...flags.waitForQuota },
  },
  output: "the result; with --json, one line of JSON as `output --json` prints it",
  exits: {
    0: "COMPLETED",
    9: "the service could not be reached; nothing was created",
    ...listUsualExitCodes(3, 4, 5, 6, 7, 8, 10, 11, 13, 14),
  },
  examples: [
    'research run "How do tides form?" -o tides.md',
    "research run --prompt-file question.txt --context notes.md --timeout 2h",
  ],
  run: async () => (await import("./run.js")).run,
});
