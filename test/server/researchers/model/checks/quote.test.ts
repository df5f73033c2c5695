import { expect, it } from "vitest";
import { findQuote } from "../../../../../src/server/researchers/model/checks/quote.js";
import type { Layout } from "../../../../../src/server/researchers/model/checks/sentence-bounds.js";

function shown(text: string, quote: string, layout: Layout = "flowing", from = 0): string | undefined {
  const place = findQuote({ text, from, layout }, quote);
  return place && text.slice(place.start, place.end);
}

const TEXT = `# Limits

A table has at most 1,600 columns. It is not advisable to use [that many](https://example.com/9),
e.g. Because of a row's size. Use -1 for "no limit".

You must never:

- delete the journal by hand
- run two services on one folder
`;

it.each<[string, string, string | undefined]>([
  ["a copy", "A table has at most 1,600 columns.", "A table has at most 1,600 columns."],
  ["one in other letters and white space", "a  TABLE has\nat most", "A table has at most 1,600 columns."],
  [
    "a part after a negation",
    "advisable to use that many",
    "It is not advisable to use [that many](https://example.com/9),\ne.g. Because of a row's size.",
  ],
  [
    "an item of a list, with the line that introduces it",
    "run two services",
    "You must never:\n\n- delete the journal by hand\n- run two services on one folder",
  ],
  ["a sign and quotation marks", "Use -1 for “no limit”", 'Use -1 for "no limit".'],
  ["a heading's word alone, as it stands there once", "Limits", "# Limits"],
  ["another number", "A table has at most 1,601 columns.", undefined],
  ["another separator", "A table has at most 1.600 columns.", undefined],
  ["a sign left out", "Use 1 for no limit", undefined],
  ["a word left out", "It is advisable to use that many", undefined],
  ["another target of a link", "use [that many](https://example.com/8)", undefined],
  ["two places of one word", "many a", undefined],
  ["a word that stands there several times", "a", undefined],
  ["nothing", " … ", undefined],
])("%s", (_name, quote, expected) => {
  expect(shown(TEXT, quote)).toBe(expected);
});

it("a comment above a list does not introduce it", () => {
  const text = "<!-- YAML\nadded:\n  - v1\n-->\n\n* The delay is short.\n";
  expect(shown(text, "the delay is short")).toBe("* The delay is short.");
});

it("of several places the first behind `from` is taken", () => {
  const text = "The port is open. Yes.\n\nThe port is open. No.";
  expect(findQuote({ text, from: 10, layout: "flowing" }, "The port is open.")?.start).toBe(
    text.lastIndexOf("The"),
  );
});

it("in code a line stands for a sentence, and a comment is whole sentences", () => {
  const code =
    "// Never call this twice: it\n// deletes the journal.\nconst limit = !isOpen;\nconst port = 8080;\n";
  expect(shown(code, "port = 8080", "lines")).toBe("const port = 8080;");
  expect(shown(code, "deletes the journal", "lines")).toBe(
    "// Never call this twice: it\n// deletes the journal.",
  );
  expect(shown(code, "limit = isOpen", "lines")).toBeUndefined();
});
