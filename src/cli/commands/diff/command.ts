import { define, listUsualExits } from "../definition.js";
import { flags } from "../flags.js";

const { "-o, --output <path>": path, "--force": force, "--html": html } = flags.result;

export const diff = define({
  name: "diff",
  summary: "show what changed in substance between two results",
  description:
    "Search each result for the numbers, dates and quotations of the other, and print what only one of them says and " +
    "where their figures differ. Wording, order and form do not count as changes, and no cited page is read.",
  arguments: [
    ["<old>", "an id, a unique prefix of an id in the history, @last, a file, or - for stdin"],
    ["<new>", "the same, for the newer result"],
  ],
  flags: { "-o, --output <path>": path, "--force": force, "--html": html },
  output: "Markdown, formatted on a terminal; nothing if nothing changed; --json: one object",
  exits: { 0: "nothing changed", 15: "the results differ", ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11) },
  examples: ["research diff last-week.md this-week.md", "research diff 3f2a @last --html -o news.html"],
  run: async () => (await import("./run.js")).runDiff,
});
