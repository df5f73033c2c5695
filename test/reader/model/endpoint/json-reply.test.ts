import { describe, expect, it } from "vitest";
import { findJson } from "../../../../src/reader/model/endpoint/json-reply.js";

it.each<[string, unknown]>([
  ['{"a": 1}', { a: 1 }],
  ["```json\n[1]\n```", [1]],
  ['```\n{"a": "}"}', { a: "}" }],
  ['I say: {"a": "\\"}{"} and [more', { a: '"}{' }],
  ["[see] this: [1, 2]", [1, 2]],
  ["<think>[1]</think>[2]", [2]],
  ["nothing", undefined],
  ['{"a": [1', undefined],
])("%s", (text, expected) => {
  expect(findJson(text, false)).toEqual(expected);
});

describe("a slip is repaired, if that is allowed:", () => {
  it.each<[string, string, unknown]>([
    ["a trailing comma", '{"queries": ["a", "b",],}', { queries: ["a", "b"] }],
    ["single quotation marks", "{'queries': ['a']}", { queries: ["a"] }],
    ["names without quotation marks, and a comment", '{queries: ["a"] /* enough */}', { queries: ["a"] }],
    ["a line break in a string", '{"claim": "one\ntwo"}', { claim: "one\ntwo" }],
    ["words of Python", '{"a": True, "b": None}', { a: true, b: null }],
    ["a bracket that is not closed", 'Here: {"facts": [{"claim": "x"', { facts: [{ claim: "x" }] }],
    ["a fence around it", '```json\n{"a": [1,],}\n```', { a: [1] }],
  ])("%s", (_name, text, expected) => {
    expect(findJson(text, true)).toEqual(expected);
  });

  it("a reply that was cut off is not repaired", () => {
    expect(findJson('{"queries": ["a', false)).toBeUndefined();
  });

  it("prose stays what it is", () => {
    expect(findJson("I would search for timeouts.", true)).toBeUndefined();
  });
});

it.each(["<thinking>{}</thinking> [2]", "{}</think>[2]"])("thoughts go: %s", (text) => {
  expect(findJson(text, true)).toEqual([2]);
});

it("of a thought without an end nothing is left", () => {
  expect(findJson("<think>[2]", true)).toBeUndefined();
});

it.each(["x {'a: ", '{"a":[', '["', "[", "```json\n{"])("%s over and over takes no long time", (text) => {
  const begun = process.cpuUsage();
  findJson(text.repeat(8_000), true);
  expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000);
});
