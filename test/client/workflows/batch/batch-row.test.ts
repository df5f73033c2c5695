import { expect, test } from "vitest";
import { computeRowDigest } from "../../../../src/client/store/history/equal-creates.js";
import {
  buildFileStem,
  buildRowId,
  isRepeatedRow,
} from "../../../../src/client/workflows/batch/batch-row.js";
import { parseExact } from "../../../../src/core/json/exact-json.js";
import type { JsonSchema } from "../../../../src/core/protocol/conversation.js";

test("the digest knows prompt, structured output and schema, and not the order of fields", () => {
  const schema = { type: "object", properties: { a: { type: "string" }, b: {} } };
  const turned = { properties: { b: {}, a: { type: "string" } }, type: "object" };
  const digest = computeRowDigest({ prompt: "p", structured_output: true, output_schema: schema });
  expect(digest).toMatch(/^[0-9a-f]{24}$/);
  expect(computeRowDigest({ prompt: "p", structured_output: true, output_schema: turned })).toBe(digest);
  expect(computeRowDigest({ prompt: "q", structured_output: true, output_schema: schema })).not.toBe(digest);
  expect(computeRowDigest({ prompt: "p", structured_output: true })).not.toBe(digest);
  expect(computeRowDigest({ prompt: "p", structured_output: true })).not.toBe(
    computeRowDigest({ prompt: "p" }),
  );
});

test("the digest tells no two ways to write a number apart", () => {
  const of = (text: string) =>
    computeRowDigest({ prompt: "p", output_schema: parseExact(text) as JsonSchema });
  expect(of('{"maximum":1.0}')).toBe(of('{ "maximum": 1 }'));
});

test("arrays in a schema keep their order", () => {
  const body = (...names: string[]) => ({ prompt: "p", output_schema: { enum: names } });
  expect(computeRowDigest(body("a", "b"))).not.toBe(computeRowDigest(body("b", "a")));
  // An array is not the object with the same names and values.
  const other = { prompt: "p", output_schema: { enum: { 0: "a", 1: "b" } } };
  expect(computeRowDigest(body("a", "b"))).not.toBe(computeRowDigest(other));
});

test.each([
  ["k", 1, "key:k"],
  ["k", 2, "key:k"],
  [undefined, 1, "ask:d"],
  [undefined, 2, "ask:d:2"],
])("the key %s and the %d. request body of its kind are %s", (key, nth, id) => {
  expect(buildRowId(key, "d", nth)).toBe(id);
});

test("only a row without a key repeats another", () => {
  const row = { line: 1, body: { prompt: "p" }, digest: "d" };
  expect(isRepeatedRow({ ...row, key: undefined, id: "ask:d" })).toBe(false);
  expect(isRepeatedRow({ ...row, key: undefined, id: "ask:d:2" })).toBe(true);
  expect(isRepeatedRow({ ...row, key: "d", id: "key:d" })).toBe(false);
});

test.each([
  ["plain", "plain"],
  ["Zürich 2.0_a-b", "Zürich 2.0_a-b"],
  ["a/b", "a%2fb"],
  ["../x", "%2e.%2fx"],
  [".hidden", "%2ehidden"],
  ["dot.", "dot%2e"],
  [" blank ", "%20blank%20"],
  ["50%", "50%25"],
  ["CON", "CON"],
  ["%43%4f%4e", "%2543%254f%254e"],
  ["a\nb", "a%0ab"],
  ["日本", "日本"],
  ["é", "é"],
  ["💡", "%f0%9f%92%a1"],
])("the key %j names the file %j", (key, stem) => {
  expect(buildFileStem(key)).toBe(stem);
});
