import { describe, expect, test } from "vitest";
import { JsonText } from "../../../src/core/json/exact-json.js";
import { escapeLine, escapeResult, escapeText, stringifySafe } from "../../../src/core/text/safe-text.js";

/** First and last of each range of characters that act on a terminal, hide text or turn it around. */
const UNSAFE = [
  ...[0x00, 0x08, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9f],
  ...[0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e],
  ...[0x2060, 0x2066, 0x206f, 0xfeff, 0xfff9, 0xfffb, 0xe0000, 0xe0041, 0xe007f],
];
const JOINERS = [0x200c, 0x200d];
const SAFE = [
  0x09, 0x0a, 0x20, 0x7e, 0xa0, 0xac, 0xae, 0x61b, 0x61d, 0x200a, 0x2010, 0x2027, 0x202f, 0xfffd, 0x1f967,
];
const hex = (code: number) => code.toString(16);

describe("shown to people", () => {
  test.each([...UNSAFE, ...JOINERS].map(hex))("U+%s is an escape", (code) => {
    const char = String.fromCodePoint(Number.parseInt(code, 16));
    expect(escapeText(`a${char}b`)).toBe(`a\\u{${code}}b`);
  });

  test.each(SAFE.map(hex))("U+%s stays", (code) => {
    const text = `a${String.fromCodePoint(Number.parseInt(code, 16))}b`;
    expect(escapeText(text)).toBe(text);
  });

  test.each(["\ud800", "\udfff"])("half a character is an escape", (half) => {
    expect(escapeText(`a${half}b`)).toBe(`a\\u{${hex(half.charCodeAt(0))}}b`);
  });

  test.each([
    ["::error::x", "\\u{3a}:error::x"],
    ["a\n  ::error::x", "a\n  \\u{3a}:error::x"],
    ["a ::b", "a ::b"],
    ["##[error]x", "\\u{23}#[error]x"],
    ["a ##vso[task]", "a \\u{23}#vso[task]"],
    ["## heading", "## heading"],
  ])("of a CI runner, %j is %j", (text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });
});

test("on one line, white space is a blank", () => {
  expect(escapeLine(" a\n\tb\u0085c\r\nd ")).toBe("a b c d");
  expect(escapeLine("a\u001b[2Jb")).toBe("a\\u{1b}[2Jb");
});

test("in a result on a terminal the joiners of letters and emoji stay", () => {
  for (const code of JOINERS) {
    const text = `a${String.fromCodePoint(code)}b`;
    expect(escapeResult(text)).toBe(text);
  }
  for (const code of UNSAFE) expect(escapeResult(String.fromCodePoint(code))).toBe(`\\u{${hex(code)}}`);
  expect(escapeResult("::error::\n\t##[x]")).toBe("::error::\n\t##[x]");
});

describe("JSON", () => {
  test.each([...UNSAFE, ...JOINERS].filter((code) => code >= 0x7f).map(hex))(
    "has U+%s as an escape",
    (code) => {
      const char = String.fromCodePoint(Number.parseInt(code, 16));
      const line = stringifySafe({ a: char });
      expect(line).not.toContain(char);
      expect(JSON.parse(line)).toEqual({ a: char });
    },
  );

  test("has no command of a CI runner in it, and says the same", () => {
    const value = { a: "##[error]x", b: ["##vso[x]"] };
    expect(stringifySafe(value)).not.toMatch(/##/);
    expect(JSON.parse(stringifySafe(value, 2))).toEqual(value);
  });

  test("is on one line, or laid out, and exact", () => {
    const value = new JsonText('{"a":[1.0],"a":-0}');
    expect(stringifySafe(value)).toBe('{"a":[1.0],"a":-0}');
    expect(stringifySafe(value, 2)).toBe('{\n  "a": [\n    1.0\n  ],\n  "a": -0\n}');
  });
});

test("a line of a result ends as a line ends, whichever way it was written", () => {
  expect(escapeResult("a\r\nb\rc")).toBe("a\nb\\u{d}c");
});
