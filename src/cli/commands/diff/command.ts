import { define, listUsualExits } from "../definition.js";
import { flags } from "../flags.js";

const { "-o, --output <path>": path, "--force": force, "--html": html } = flags.result;

export const diff = define({
  name: "diff",
  summary: "say what changed in substance from one result to another",
  description:
    "Look for the numbers, dates and quotations of each sentence of a result in the other one, and print what only one of " +
    "them says and where their figures differ. Wording, order and form are no change, and no cited page is read.",
  arguments: [
    ["<old>", "an id, a unique prefix of one made here, @last, a file, or - for stdin"],
    ["<new>", "the same, of the result that is newer"],
  ],
  flags: { "-o, --output <path>": path, "--force": force, "--html": html },
  output: "Markdown, on a terminal laid out for reading; nothing if nothing changed; --json: one object",
  exits: { 0: "nothing changed", 15: "the results differ", ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11) },
  examples: ["research diff last-week.md this-week.md", "research diff 3f2a @last --html -o news.html"],
  run: async () => (await import("./run.js")).runDiff,
});
