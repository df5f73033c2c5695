import { describe, expect, it } from "vitest";
import { MAX_LINE } from "../../../../src/reader/reading/blocks/block.js";
import { blocksOf, hasNearlyNoText } from "../../../../src/reader/reading/blocks/blocks.js";

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
  blocksOf(name, `${line}\n\n${start}!\n\n${start}\n`);
}

/** The processor time that `work` takes, in ms: the least of so many tries. */
function cost(work: () => void, tries = 3): number {
  const times = Array.from({ length: tries }, () => {
    const begun = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

/** Less is within what the collector of garbage may add at any time, in ms. */
const NOTICEABLE = 250;

describe.each(["a.md", "a.txt", "a.html", "a.ts", "plain"])("lines of %s", (name) => {
  it("twice as long take at most 2.5 times the processor time", () => {
    const grown = UNITS.flatMap((unit) => {
      const length = MAX_LINE / 2 - 10;
      // A pattern that is not linear takes seconds here, so the shorter line is measured only then.
      const readLong = () => read(name, unit, 2 * length);
      if (cost(readLong, 1) < NOTICEABLE) return [];
      const long = cost(readLong);
      if (long < NOTICEABLE) return [];
      const short = cost(() => read(name, unit, length));
      // Other work on the machine makes a measurement too long: it is taken a second time.
      return Math.min(long, cost(readLong)) > 2.5 * short
        ? [`${JSON.stringify(unit)}: ${short} ms, ${long} ms`]
        : [];
    });
    expect(grown).toEqual([]);
  });
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
    return () => {
      const blocks = blocksOf("a.html", `<ul>${text}`);
      hasNearlyNoText("a.html", text, blocks);
    };
  };
  page(10_000)();
  // Other work on the machine makes a single measurement up to three times too long. A quadratic pattern fails each time.
  const isProportional = () => cost(page(200_000)) < 2.5 * cost(page(100_000)) + NOTICEABLE;
  expect(Array.from({ length: 5 }).some(isProportional)).toBe(true);
});
