import { expect, it } from "vitest";
import type { Passage } from "../../../../src/server/researchers/sources/source.js";
import { statementsIn } from "../../../../src/server/researchers/structured/statements.js";

const said = (lines: string[], more: Partial<Passage> = {}) =>
  statementsIn({ id: "a.md", line: 1, lines, heading: "Top / port", kind: "prose", ...more }).map(
    ({ label, isDefault, text }) => [label, text, ...(isDefault ? ["default"] : [])],
  );

it.each<[string, string[], string[][]]>([
  ["a definition", ["5432"], [["port", "5432"]]],
  ["a definition of as much as is short", ["x".repeat(60)], [["port", "x".repeat(60)]]],
  ["no longer one", ["x".repeat(61)], []],
  ["no definition of two lines", ["5432", "6543"], []],
  ["no sentence", ["It listens."], []],
  ["no introduction", ["As follows:"], []],
  ["the words of an item with a name", ["- **port** 5432"], [["port", "- port 5432"]]],
  ["no item of code", ["- `port` 5432"], []],
  [
    "key: value",
    ["port: 5432"],
    [
      ["port", "5432"],
      ["port", "port: 5432"],
    ],
  ],
  ["key = value with marks", ["- **`size`** = 7,", "and more"], [["size", "7"]]],
  ["a key of one line of several", ["First", "port: 5432;", "last"], [["port", "5432"]]],
  ["no blanks behind a value", ["port: 5432  ", "x"], [["port", "5432"]]],
  ["no address as a value", ["see http://a.test/ here", "now"], []],
  ["no key that is a sentence", ["This is. What: 7", "x"], [["This is. What", "7"]]],
  ["default: value", ["(Where.) Default: 5 apples.", "x"], [["port", "5 apples. x", "default"]]],
  ["the default value is", ["the default value is set to *5*", "x"], [["port", "5* x", "default"]]],
  ["defaults to", ["It defaults to 5", "x"], [["port", "5 x", "default"]]],
  ["value by default", ["It waits 30 seconds by default.", "x"], [["port", "30 seconds", "default"]]],
  ["value (the default)", ["One of `a`, `b` (the default)", "x"], [["port", "`b`", "default"]]],
  ["value is the default", ["As the hose is the default here.", "x"], [["port", "the hose", "default"]]],
  ["no default that is not given", ["The defaulting peer is gone", "x"], []],
])("%s", (_name, lines, expected) => {
  expect(said(lines)).toEqual(expected);
});

it("takes the name from the item, else from the nearest heading", () => {
  expect(said(["- `size` {number} **Default:** `5`"])).toEqual([["size", "`5`", "default"]]);
  expect(said(["It defaults to 5."], { heading: "" })).toEqual([["", "5.", "default"]]);
});

it("reads of code its pairs alone, and of tables nothing", () => {
  expect(said(["port = 5 // by default", "7"], { kind: "code" })).toEqual([["port", "5 // by default"]]);
  expect(said(["5"], { kind: "code" })).toEqual([]);
  expect(said(["port: 5"], { kind: "table" })).toEqual([]);
});

it("gives the sentence that a default stands in, and at most 200 characters of what follows it", () => {
  const [one, other] = statementsIn({
    id: "a.md",
    line: 1,
    lines: ["Trees grow. The height defaults to 5 metres. Seven by default. More."],
    heading: "",
    kind: "prose",
  });
  expect([one?.sentence.trim(), other?.sentence.trim()]).toEqual([
    "The height defaults to 5 metres.",
    "Seven by default.",
  ]);
  expect(said([`It defaults to ${"5".repeat(300)}`, "x"])[0]?.[1]).toHaveLength(200);
});
