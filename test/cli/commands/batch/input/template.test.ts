import { expect, test } from "vitest";
import { PromptTemplate } from "../../../../../src/cli/commands/batch/input/build-rows.js";
import { parseExact } from "../../../../../src/core/json/exact-json.js";

test.each([
  ["plain", []],
  ["{{a}} {{ b }} {{a}}", ["a", "b"]],
  ["{{two words}}", ["two words"]],
  ["{a} {{}} {{{a}}", ["a"]],
])("the columns of %j are %j", (text, columns) => {
  expect(new PromptTemplate(text).columns).toEqual(columns);
});

test("places are filled with text as it is and anything else as JSON", () => {
  const template = new PromptTemplate("{{a}}, {{ b }}: {{a}} {{c}}");
  expect(template.fill({ a: "$& {{b}}", b: 7, c: { d: [null] } })).toBe('$& {{b}}, 7: $& {{b}} {"d":[null]}');
});

test("a number is filled in as it was read", () => {
  const fields = parseExact('{"n": 12345678901234567890, "o": { "n": -0 }}') as Record<string, unknown>;
  expect(new PromptTemplate("{{n}} {{o}}").fill(fields)).toBe('12345678901234567890 {"n":-0}');
});

test("a missing column is one that the record does not have of its own", () => {
  const template = new PromptTemplate("{{a}} {{toString}} {{b}}");
  expect(template.listMissing({ a: "", b: null })).toEqual(["toString"]);
});
