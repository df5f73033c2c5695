import { expect, it } from "vitest";
import { buildFact, findQuote } from "../../../src/reader/writing/quoted-facts.js";

function shown(text: string, quote: string, kind: "prose" | "code" | "table" = "prose"): string | undefined {
  const place = findQuote(text, quote, kind);
  return place && text.slice(place.start, place.end);
}

const TEXT = `A table has at most 1,600 columns. It is not advisable to use [that many](https://example.com/9),
e.g. Because of a row's size. Use -1 for "no limit".`;

it.each<[string, string, string | undefined]>([
  ["a copy", "A table has at most 1,600 columns.", "A table has at most 1,600 columns."],
  ["one in other letters and white space", "a  TABLE has\nat most", "A table has at most 1,600 columns."],
  [
    "a part after a negation",
    "advisable to use that many",
    "It is not advisable to use [that many](https://example.com/9),\ne.g. Because of a row's size.",
  ],
  ["a sign and quotation marks", "Use -1 for “no limit”", 'Use -1 for "no limit".'],
  ["a word alone, as it stands there once", "columns", "A table has at most 1,600 columns."],
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

it("a copy may join a word that is split at the end of a line, and may leave it split", () => {
  const text = "The agree-\nment is well-\nknown. It holds.";
  for (const quote of ["The agreement is well-known.", "The agree-\nment is well-known."])
    expect(shown(text, quote)).toBe("The agree-\nment is well-\nknown.");
  expect(shown("A 10-\n20 range is given.", "A 1020 range is given.")).toBeUndefined();
});

it("a row of a table is shown whole", () => {
  const row = "| `request.timeout` | `45s` | after that the client gets 504 |";
  expect(shown(row, "`request.timeout` | `45s`", "table")).toBe(row);
  expect(shown("| stop | Stop it. Then wait. |", "Then wait", "table")).toBe(
    "| stop | Stop it. Then wait. |",
  );
});

it("in code a line stands for a sentence, and a comment is whole sentences", () => {
  const code =
    "// Never call this twice: it\n// deletes the journal.\nconst limit = !isOpen;\nconst port = 8080;\n";
  expect(shown(code, "port = 8080", "code")).toBe("const port = 8080;");
  expect(shown(code, "deletes the journal", "code")).toBe(
    "// Never call this twice: it\n// deletes the journal.",
  );
  expect(shown(code, "Never call this twice", "code")).toBe(
    "// Never call this twice: it\n// deletes the journal.",
  );
  expect(shown(code, "limit = !isOpen", "code")).toBe("const limit = !isOpen;");
  expect(shown("if (a) {\n    return 5 + b;\n}", "return 5 + b", "code")).toBe("return 5 + b;");
  expect(shown(code, "limit = isOpen", "code")).toBeUndefined();
});

it("three words are enough where they stand several times", () => {
  expect(shown("So it is. So it is.", "so it is")).toBe("So it is.");
  expect(shown("So it is. So it is.", "it is")).toBeUndefined();
});

it("markup of the source may be left out", () => {
  expect(shown("It is <b>not</b> open to [all](x).", "is not open to all")).toBe(
    "It is <b>not</b> open to [all](x).",
  );
});

it("a fact is at its line of the file, also behind a line that shows several", () => {
  const lines = ["a: 1\n  b: 2", "c: three pears", "d: 4"];
  const opened = {
    document: { id: "a.html", title: "a" },
    passages: [{ id: "a.html", line: 7, lines, heading: "", kind: "code" as const }],
  };
  expect(buildFact({ claim: "", quote: "c: three pears" }, opened)).toMatchObject({
    line: 8,
    quote: lines[1],
  });
  expect(buildFact({ claim: "", quote: "b: 2" }, opened)).toMatchObject({ line: 7, quote: "b: 2" });
});
