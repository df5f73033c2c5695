import { expect, it } from "vitest";
import { MAX_LINE } from "../../../../src/reader/parsing/blocks/block.js";
import { hasNearlyNoText, readBlocks } from "../../../../src/reader/parsing/blocks/read-blocks.js";
import { isLinear } from "../../../support/growth.js";

/** What the lines of hostile files are made of: the marks of each pattern, alone and in pairs. */
const MARKS = [..." \t\f\u00a0-*_=.:;|#`[](<>/1Aa"];
const WORDS = [
  "1,",
  "1.",
  "a: ",
  "default ",
  "default: 1 ",
  "5 by default ",
  "maximum a ",
  "e.g. ",
  "](",
  "<<a",
  "<!--",
  '<a "',
  "<td>",
  "&#1;",
  "?maximum ",
  "| -",
  "Aa ",
  "--a ",
];
/** Pairs of marks, drawn with a generator of fixed seed. */
const PAIRS = (() => {
  let state = 18;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return MARKS[Math.floor((state / 2_147_483_648) * MARKS.length)] ?? "";
  };
  return Array.from({ length: 60 }, () => next() + next() + next());
})();
const UNITS = [...MARKS, ...WORDS, ...PAIRS];

/** Cuts a file of some such lines into blocks. */
function read(name: string, unit: string, length: number): void {
  const line = `x ${unit.repeat(length / unit.length)} y`;
  const start = unit.repeat(length / unit.length);
  readBlocks(name, `${line}\n\n${start}!\n\n${start}\n`);
}

it.each(["a.md", "a.txt", "a.html", "a.ts", "plain"])("lines of %s are cut in time in proportion", (name) => {
  // The longest line that is read whole, and a sixteenth of it.
  const grown = UNITS.filter((unit) => !isLinear((length) => read(name, unit, length), MAX_LINE / 16));
  expect(grown).toEqual([]);
});

it.each([
  ["paragraphs", "<p>default: 1 x 5 by default"],
  ["lists that never end", "<ul><li>a"],
  ["end tags of what was begun far above", "<td></ul>"],
  ["elements in a line that never end", '<span class="nav">a'],
  ["quotes that never end", "<a \"'"],
  ["tables within tables", "<table><tr><td>a"],
  ["raised text", "1<sup>2"],
  ["headings", "<h2>a"],
])("a page without a line break takes time in proportion to its length: %s", (_name, unit) => {
  const page = (length: number) => {
    const text = unit.repeat(length / unit.length);
    hasNearlyNoText("a.html", text, readBlocks("a.html", `<ul>${text}`));
  };
  expect(isLinear(page, 6_250)).toBe(true);
});
