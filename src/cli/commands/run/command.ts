import {
  define,
  dryRunFlag,
  notifyFlag,
  onDoneFlag,
  providerFlags,
  quotaFlags,
  requestFlags,
  resultFlags,
  usual,
  waitForQuotaFlag,
  watchFlags,
} from "../definition.js";

export const run = define({
  name: "run",
  summary: "submit a question, wait, and print the result",
  description: "`create`, `watch` and `output` in one: stdout is the result.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    ...dryRunFlag,
    ...requestFlags,
    ...watchFlags,
    ...resultFlags,
    ...providerFlags,
    ...quotaFlags,
    ...onDoneFlag,
    ...notifyFlag,
    ...waitForQuotaFlag,
  },
  output: "the result; --json: the output's data on one line",
  exits: { 0: "COMPLETED", 9: "unreachable, nothing was created", ...usual(2, 3, 4, 7, 8, 10, 11, 12, 13) },
  examples: [
    'research run "How do tides form?" -o tides.md',
    "research run --prompt-file question.txt --timeout 2h",
  ],
  run: async () => (await import("./run.js")).run,
});
