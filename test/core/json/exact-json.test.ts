import { describe, expect, test } from "vitest";
import {
  addFirstMember,
  attachJsonText,
  findMemberText,
  JsonText,
  parseExact,
  parseExactElements,
  stringifyExact,
} from "../../../src/core/json/exact-json.js";

const EXACT = '{"n":12345678901234567890,"huge":1e400,"zero":-0,"one":1.0,"a":1,"a":2,"e":"\\u00e9\\/"}';

describe("what was parsed is written as it was read", () => {
  test.each([
    ["numbers, duplicate names and escapes", EXACT],
    ["a list", "[1.0,-0,[]]"],
    ["nothing", "{}"],
  ])("%s", (_what, text) => {
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  test("inside other values too, at any depth", () => {
    expect(stringifyExact([{ data: parseExact(EXACT) }])).toBe(`[{"data":${EXACT}}]`);
  });

  test("on one line", () => {
    expect(stringifyExact(parseExact('{ "a" :\n[ 1.0,\t2 ]\r\n}'))).toBe('{"a":[1.0,2]}');
  });
});

test("each element of a list remembers its own text", () => {
  const elements = parseExactElements(` [ ${EXACT},\n[1.0, [] ], 1.0 ]`) as object[];
  expect(elements.map((element) => stringifyExact(element))).toEqual([EXACT, "[1.0,[]]", "1"]);
  expect([parseExactElements("[]"), parseExactElements("{}")]).toEqual([[], {}]);
});

test.each([
  null,
  true,
  1.5,
  Number.NaN,
  "text \n\u2028",
  [],
  [undefined, 1],
  { a: undefined, b: { c: [null, "x"] }, 'quo"te': 1 },
  { f: () => 1, [Symbol("s")]: 1, s: Symbol("s"), list: [() => 1] },
  { at: new Date(0) },
])("what was not parsed is written as JSON.stringify does: %j", (value) => {
  expect(stringifyExact(value)).toBe(JSON.stringify(value));
});

test("-0 is written as it is", () => {
  expect(stringifyExact({ zero: -0, list: [-0, 0] })).toBe('{"zero":-0,"list":[-0,0]}');
});

test("undefined alone is null, so that the text is always JSON", () => {
  expect(stringifyExact(undefined)).toBe("null");
});

test("JsonText is written as it stands", () => {
  expect(stringifyExact({ output: new JsonText(" [1.0, 2] ") })).toBe('{"output":[1.0,2]}');
});

test("a primitive remembers nothing, and is no error", () => {
  expect(attachJsonText(1, "1.0")).toBe(1);
  expect(parseExact("1.0")).toBe(1);
  expect(() => parseExact("{")).toThrow(SyntaxError);
});

describe("the member at a path remembers its text, though what surrounds it is copied", () => {
  test.each([
    ["at the top", `{"schema": ${EXACT}, "x": 1.0}`, ["schema"]],
    ["deeper", `{"x":1.0,"job" : {"schema":{} , "schema":${EXACT}}}`, ["job", "schema"]],
  ])("%s", (_where, text, path) => {
    let part = parseExact(text, ...path);
    for (const name of path) part = { ...(part as Record<string, unknown>) }[name];
    expect(stringifyExact({ part })).toBe(`{"part":${EXACT}}`);
  });

  test.each(["null", "1", "[]", "{}", '{"job":null}', '{"job":1}', '{"job":{"schema":null}}'])(
    "and %s has none, which is no error",
    (text) => {
      expect(stringifyExact(parseExact(text, "job", "schema"))).toBe(text);
    },
  );
});

describe("the text of a member", () => {
  const of = (text: string, name: string) => findMemberText(parseExact(text) as object, name)?.text;

  test.each([
    ['{"a":1.0}', "a", "1.0"],
    ['{ "x" : 0 , "a" : [1.0, {"a": 2}] , "b" : 1 }', "a", '[1.0, {"a": 2}]'],
    ['{"a":1,"a":-0}', "a", "-0"],
    ['{"\\u0061":1.0}', "a", "1.0"],
    ['{"b":"a","c":{"a":3},"d":["a"],"a":"}"}', "a", '"}"'],
    ['{"b":{"a":1}}', "a", undefined],
    ['{"b":"a"}', "a", undefined],
    ["{}", "a", undefined],
    ['{"":1.0}', "", "1.0"],
    ['{"__proto__":1.0}', "__proto__", "1.0"],
    ['{"a":1}', "toString", undefined],
  ])("of %s, %j: %j", (text, name, expected) => {
    expect(of(text, name)).toBe(expected);
  });

  test("of an object that was not parsed is that of its value", () => {
    expect(findMemberText({ a: [1, "x"] }, "a")?.text).toBe('[1,"x"]');
  });
});

describe("a copy with one more member", () => {
  test.each([
    ["{}", '{"id":"x"}', { id: "x" }],
    ['{"a":1.0}', '{"id":"x","a":1.0}', { id: "x", a: 1 }],
    ['{"id":"own","a":-0}', '{"id":"own","a":-0}', { id: "own", a: -0 }],
  ])("of %s is %s", (text, expected, value) => {
    const copy = addFirstMember(parseExact(text) as object, "id", "x");
    expect(stringifyExact(copy)).toBe(expected);
    expect(copy).toEqual(value);
  });
});
