import { describe, expect, test } from "vitest";
import { compactJson, indentJson, measureJsonNesting } from "../../../src/core/json/exact-json.js";

const TEXTS = [
  "{}",
  "[]",
  "1.0",
  '"a \\" b"',
  '"\\\\"',
  '["\\\\\\"", {"a": [], "b": {}, "c": [[1]]}, null]',
  '{"a":{"b":[1,2,{"c":"x, y: [z] {"}]},"d":-0.5e+3}',
  '[[],[[]],{"a":{}}]',
];

describe("with JSON.stringify as the model", () => {
  test.each(TEXTS.filter((text) => text !== "1.0" && !text.includes("e+3")))("%s", (text) => {
    expect(compactJson(text)).toBe(JSON.stringify(JSON.parse(text)));
    for (const indent of [2, 4])
      expect(indentJson(text, indent)).toBe(JSON.stringify(JSON.parse(text), null, indent));
  });
});

test("white space between tokens is dropped, tokens are kept as they are", () => {
  expect(compactJson(' { "a b" :\t1.0 ,\r\n"\\u0061" : [ -0 , 1e400 ] } ')).toBe(
    '{"a b":1.0,"\\u0061":[-0,1e400]}',
  );
  expect(indentJson('{"a":1.0,"a":[1e400]}', 2)).toBe('{\n  "a": 1.0,\n  "a": [\n    1e400\n  ]\n}');
});

test("a text of many tokens stays whole", () => {
  const text = `[${Array(50_000).fill("1, 2").join(" , ")}]`;
  expect(compactJson(text)).toBe(text.replaceAll(" ", ""));
  expect(JSON.parse(indentJson(text, 1))).toHaveLength(100_000);
});

test("a string of megabytes with escapes is one token", () => {
  const text = JSON.stringify(['\\"'.repeat(1_000_000)]);
  expect(compactJson(text)).toBe(text);
});

test.each([
  ["", 0],
  ["1", 0],
  ["[]", 1],
  ['{"a":[{}]}', 3],
  ["[][]", 1],
  ['["[[[["]', 1],
  ['["\\"[["]', 1],
  ["[[[", 3],
  ['["', 1],
])("%s nests %d deep", (text, depth) => {
  expect(measureJsonNesting(text)).toBe(depth);
});
