import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { flags } from "../shared-flags.js";

const { "-o, --output <path>": path, "--force": force, "--html": html } = flags.result;

export const diff = defineCommand({
  name: "diff",
  summary: "compare the statements, numbers, dates and quotations of two results",
  description:
    "Compare the numbers, dates and quotations of two results. Print the sentences that only one result has, and the sentences " +
    "whose figures differ. Changes of wording, order and layout are not reported. The cited pages are not read.",
  arguments: [
    ["<old>", "an id, a unique prefix of an id in the history, @last, a file, or - for stdin"],
    ["<new>", "the newer result, in the same forms"],
  ],
  flags: { "-o, --output <path>": path, "--force": force, "--html": html },
  output: "Markdown, formatted on a terminal; nothing if nothing changed. With --json, one object",
  exits: {
    0: "nothing changed",
    15: "the results differ",
    ...listUsualExitCodes(3, 4, 5, 6, 7, 8, 9, 10, 11),
  },
  examples: ["research diff last-week.md this-week.md", "research diff 3f2a @last --html -o news.html"],
  run: async () => (await import("./run.js")).runDiff,
});
