import { expect, test } from "vitest";
import { type JsonTree, parseJsonTree } from "../../../../src/core/markdown/html/render-json.js";

const literal = (token: string): JsonTree => ({ kind: "literal", token });
const string = (text: string): JsonTree => ({ kind: "string", text });
const array = (...items: JsonTree[]): JsonTree => ({ kind: "array", items });
const object = (...members: [string, JsonTree][]): JsonTree => ({ kind: "object", members });

test.each<[string, JsonTree]>([
  ["12345678901234567890.10", literal("12345678901234567890.10")],
  [" null ", literal("null")],
  ['"a\\n\\u0041"', string("a\nA")],
  ["[]", array()],
  ["{}", object()],
  ["[1, [2], {}]", array(literal("1"), array(literal("2")), object())],
  [
    '{"b": 1, "a": {"c": [true]}, "b": "x"}',
    object(["b", literal("1")], ["a", object(["c", array(literal("true"))])], ["b", string("x")]),
  ],
  [
    '{"a": [{"b": 1}, {"b": 2}], "c": 3}',
    object(["a", array(object(["b", literal("1")]), object(["b", literal("2")]))], ["c", literal("3")]),
  ],
  ['{"__proto__": "a:b,{}"}', object(["__proto__", string("a:b,{}")])],
])("%s", (text, tree) => {
  expect(parseJsonTree(text)).toEqual(tree);
});
