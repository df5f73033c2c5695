import { expect, it } from "vitest";
import type { Block } from "../../../src/reader/parsing/blocks/block.js";
import { DocumentIndex, rankSource } from "../../../src/reader/searching/document-index.js";

const prose = (line: number, text: string): Block => ({ line, lines: [text], heading: "", kind: "prose" });

function indexOf(documents: Record<string, Block[]>): DocumentIndex {
  const index = new DocumentIndex();
  for (const [id, blocks] of Object.entries(documents)) index.set({ id }, blocks);
  return index;
}

it("gives the best passages first; the score of the best is 1", () => {
  const code = { ...prose(1, "kiwi kiwi kiwi kiwi"), kind: "code" } as const;
  const index = indexOf({ "a.md": [prose(1, "kiwi"), prose(2, "kiwi pear plum")], "a.ts": [code] });
  const all = index.search("kiwi", 9);
  expect(all.map(({ passage }) => `${passage.id}:${passage.line}`)).toEqual(["a.md:1", "a.md:2", "a.ts:1"]);
  expect(all[0]?.score).toBe(1);
  expect(all[2]?.score).toBeLessThan(1);
  expect(index.search("kiwi", 1)).toEqual([all[0]]);
});

it("prefers a passage with a number where a number is asked for", () => {
  const under = (line: number, text: string) => ({ ...prose(line, text), heading: "basket" });
  const index = indexOf({ "a.md": [under(1, "kiwi x"), under(2, "kiwi 5"), prose(3, "z")] });
  const search = (query: string) => index.search(query, 2).map(({ passage }) => passage.line);
  expect(search("kiwi basket")).toEqual([1, 2]);
  expect(search("How many kiwi has a basket?")).toEqual([2, 1]);
});

it("finds a passage by its headings, the titles of its columns and the text before its table", () => {
  const row = { ...prose(1, "5"), heading: "basket", header: ["kiwi"], caption: "of the pear" };
  const index = indexOf({ "plum.md": [row], "a.md": [prose(1, "6")] });
  for (const query of ["basket", "kiwi", "pear", "plum"])
    expect(index.search(query, 2).map(({ passage }) => passage.id)).toEqual(["plum.md"]);
});

it("finds a text that leads to code by the words of the code, and gives both", () => {
  const code = { ...prose(3, "kiwi --all"), kind: "code" } as const;
  const search = (text: string) => indexOf({ "a.md": [prose(1, text), code] }).search("kiwi", 1)[0]?.passage;
  expect(search("Type this:")).toMatchObject({ line: 1, code });
  expect(search("Type this.")).toEqual({ id: "a.md", ...code });
});

it.each([
  ["docs/a.md", "prose", 1],
  ["src/a.ts", "code", 0.6],
  ["test/a.ts", "code", 0.2],
  ["spec/limits.md", "prose", 1],
  ["spec/limits.md", "table", 1],
  ["spec/a_spec.rb", "code", 0.2],
  ["LICENSE", "prose", 0.1],
] as const)("%s as %s ranks %d", (file, kind, expected) => {
  expect(rankSource(file, kind)).toBe(expected);
});
