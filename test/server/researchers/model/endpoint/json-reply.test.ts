import { expect, it } from "vitest";
import { jsonIn, withoutThoughts } from "../../../../../src/server/researchers/model/endpoint/json-reply.js";

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
  expect(jsonIn(text)).toEqual(expected);
});

it("thoughts go, also without an opening or a closing mark", () => {
  expect(withoutThoughts("<thinking>a</thinking> b")).toBe("b");
  expect(withoutThoughts("a</think>b")).toBe("b");
  expect(withoutThoughts("<think>a")).toBe("");
});
