import { describe, expect, it } from "vitest";
import { MAX_LINE } from "../../../../src/server/researchers/blocks/block.js";
import { blocksOf } from "../../../../src/server/researchers/blocks/blocks.js";
import { readQuestion } from "../../../../src/server/researchers/extractive/question.js";
import { rankWindows } from "../../../../src/server/researchers/extractive/windows.js";

const LINE = 3_900;
const FILE = 400_000;
/** Many times what it takes on a busy machine; a cubic expression takes longer by orders of magnitude. */
const LIMIT_MS = 10_000;
const question = readQuestion("How many defaults does the maximum a have, and why?");
const weights = new Map(question.terms.map((term) => [term, 1]));
const filled = (text: string, size: number) => text.repeat(Math.ceil(size / text.length)).slice(0, size);

describe.each(["a.md", "a.txt", "a.html", "a.ts", "plain"])("%s is read and ranked in time:", (name) => {
  it.each([
    ["blanks inside lines", `a maximum default${" ".repeat(LINE)}b is 5\n`.repeat(20)],
    ["openings of comments", filled("<!--", FILE)],
    ["openings of tags", filled('<a "', FILE)],
    ["nested lists and tables", filled("<dl><dt><table><tr><td>", FILE)],
    ["brackets", `${filled("[a](", LINE)}\n`.repeat(50)],
    ["bars", `${filled("| -", LINE)}\n`.repeat(50)],
    ["hashes", `# ${filled("# ", LINE)}\n`.repeat(50)],
    ["abbreviations", `${filled("e.g. ", LINE)}\n`.repeat(50)],
    ["ends of sentences", filled("?maximum ", FILE)],
    ["words of a question", `${filled("default maximum is a ", LINE)}\n`.repeat(50)],
  ])("%s", (_what, text) => {
    const begun = performance.now();
    const hits = blocksOf(name, text)
      .slice(0, 60)
      .map((block) => ({ passage: { id: name, ...block }, score: 1 }));
    const windows = rankWindows(hits, question, weights);
    // What looks for values in a window takes time that grows with the square of its length.
    expect(windows.filter(({ text }) => text.length > MAX_LINE)).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS);
  });
});
