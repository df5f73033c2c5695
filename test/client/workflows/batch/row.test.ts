import { expect, test } from "vitest";
import { computeDigest } from "../../../../src/client/store/history/create-names.js";
import { buildFileStem, buildRowId, isRepeated } from "../../../../src/client/workflows/batch/row.js";
import { parseExact } from "../../../../src/core/json/exact-json.js";
import type { JsonSchema } from "../../../../src/core/protocol/conversation.js";

test("the digest knows prompt, structured output and schema, and not the order of fields", () => {
  const schema = { type: "object", properties: { a: { type: "string" }, b: {} } };
  const turned = { properties: { b: {}, a: { type: "string" } }, type: "object" };
  const digest = computeDigest({ prompt: "p", structured_output: true, output_schema: schema });
  expect(digest).toMatch(/^[0-9a-f]{24}$/);
  expect(computeDigest({ prompt: "p", structured_output: true, output_schema: turned })).toBe(digest);
  expect(computeDigest({ prompt: "q", structured_output: true, output_schema: schema })).not.toBe(digest);
  expect(computeDigest({ prompt: "p", structured_output: true })).not.toBe(digest);
  expect(computeDigest({ prompt: "p", structured_output: true })).not.toBe(computeDigest({ prompt: "p" }));
});

test("the digest tells no two ways to write a number apart", () => {
  const of = (text: string) => computeDigest({ prompt: "p", output_schema: parseExact(text) as JsonSchema });
  expect(of('{"maximum":1.0}')).toBe(of('{ "maximum": 1 }'));
});

test("arrays in a schema keep their order", () => {
  const body = (...names: string[]) => ({ prompt: "p", output_schema: { enum: names } });
  expect(computeDigest(body("a", "b"))).not.toBe(computeDigest(body("b", "a")));
  // An array is not the object with the same names and values.
  const other = { prompt: "p", output_schema: { enum: { 0: "a", 1: "b" } } };
  expect(computeDigest(body("a", "b"))).not.toBe(computeDigest(other));
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
  expect(isRepeated({ ...row, key: undefined, id: "ask:d" })).toBe(false);
  expect(isRepeated({ ...row, key: undefined, id: "ask:d:2" })).toBe(true);
  expect(isRepeated({ ...row, key: "d", id: "key:d" })).toBe(false);
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
