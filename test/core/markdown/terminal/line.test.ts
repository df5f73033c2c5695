import { expect, test } from "vitest";
import {
  buildStyledLine,
  LOOK,
  prefixLines,
  renderLine,
} from "../../../../src/core/markdown/terminal/wrap-lines.js";

const PLAIN = { colour: false, hyperlinks: false };
const link = { text: "a b", look: LOOK.link, href: "https://x.y/" };

test.each([
  ["text", buildStyledLine({ text: "a", look: 0 }), "a", "a"],
  ["no blanks at the end", buildStyledLine({ text: "a ", look: 0 }, { text: "  ", look: 0 }), "a", "a"],
  ["bold", buildStyledLine({ text: "a", look: LOOK.bold }), "a", "\u001b[1ma\u001b[22m"],
  [
    "looks add up",
    buildStyledLine({ text: "a", look: LOOK.bold | LOOK.italic | LOOK.code }),
    "a",
    "\u001b[1;3;36ma\u001b[22;23;39m",
  ],
  [
    "a link",
    buildStyledLine(link),
    "a b",
    "\u001b]8;;https://x.y/\u001b\\\u001b[4ma b\u001b[24m\u001b]8;;\u001b\\",
  ],
])("%s", (_name, line, plain, coloured) => {
  expect(renderLine(line, PLAIN)).toBe(plain);
  expect(renderLine(line, { colour: true, hyperlinks: true })).toBe(coloured);
});

test("colour and hyperlinks are independent of each other", () => {
  expect(renderLine(buildStyledLine(link), { colour: true, hyperlinks: false })).toBe(
    "\u001b[4ma b\u001b[24m",
  );
  expect(renderLine(buildStyledLine(link), { colour: false, hyperlinks: true })).toBe(
    "\u001b]8;;https://x.y/\u001b\\a b\u001b]8;;\u001b\\",
  );
});

test("an address that no terminal takes is no hyperlink", () => {
  const href = `https://x.y/${"a".repeat(3_000)}`;
  expect(renderLine(buildStyledLine({ text: "a", look: 0, href }), { colour: false, hyperlinks: true })).toBe(
    "a",
  );
});

test("prefixed counts what it puts before", () => {
  const lines = [buildStyledLine({ text: "a", look: 0 }), buildStyledLine({ text: "bc", look: 0 })];
  const shown = prefixLines(lines, { text: "1. ", look: 0 }, { text: "   ", look: 0 });
  expect(shown.map((line) => [renderLine(line, PLAIN), line.columns])).toEqual([
    ["1. a", 4],
    ["   bc", 5],
  ]);
});
