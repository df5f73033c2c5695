import { expect, it } from "vitest";
import {
  hasQuotedValue,
  keepQuotedValues,
  listPropertyNames,
} from "../../../../src/reader/writing/checks/structured-values.js";

const QUOTES = ["The server has 4 threads and listens on port 8080 (`0.0.0.0`)."];
const NAMES = new Set(["threads", "name", "list"]);

it.each<[unknown, string | undefined]>([
  [{ threads: 4, name: "listens on port", list: ["server", 8080, true, null] }, undefined],
  [{ name: "(`" }, undefined],
  [{ threads: 5 }, "5 (threads)"],
  [{ list: [{ name: "client" }] }, '"client" (list[0].name)'],
  [{ port: 8080 }, undefined],
  [{ ports: 8080 }, '"ports"'],
  [{ name: "" }, '"" (name)'],
  [{ name: "{}" }, '"{}" (name)'],
  [17, "17"],
  [{ name: "SERVER has" }, undefined],
  [{ name: "  " }, '"  " (name)'],
  [{ name: "x".repeat(90) }, `"${"x".repeat(78)}… (name)`],
  [{ list: [["a.b"]] }, '"a.b" (list[0][0])'],
])("%j", (value, expected) => {
  const { missing } = keepQuotedValues(value, QUOTES, NAMES);
  expect(missing).toEqual(expected === undefined ? [] : [expected]);
});

it("all that stands in no quote is named, and can be left out", () => {
  const value = { threads: 4, name: "client", list: [8080, 9, { name: "port", ports: 1 }] };
  expect(keepQuotedValues(value, QUOTES, NAMES)).toEqual({
    kept: { threads: 4, list: [8080, { name: "port" }] },
    missing: ['"client" (name)', "9 (list[1])", '"ports"'],
  });
});

it("one of the quotes is enough", () => {
  const { missing } = keepQuotedValues(
    { threads: 4, port: 5 },
    ["The port is 5.", "It has 4 threads."],
    NAMES,
  );
  expect(missing).toEqual([]);
});

it.each<[string, boolean]>([
  ["It has 4 threads.", true],
  ["Nothing is open: true or null.", false],
  ["The port is 8080.", true],
])("%s holds a part of a value: %s", (quote, isHeld) => {
  expect(hasQuotedValue(quote, { list: [8080, { name: "threads" }], open: true, none: null })).toBe(isHeld);
});

it.each([
  ["It costs $1.50.", 1.5, true],
  ["It has 1,600 columns.", 1600, true],
  ["It has four threads of four thousand.", 4000, true],
  ["It has 16 or 100 threads.", 6, false],
  ["It has 16 or 100 threads.", 1, false],
  ["It has -5 of 10.", -5, true],
  ["It is 9007199254740993.", JSON.parse("9007199254740993"), false],
  ["It is version 2.10.0 of 2024-05-03.", 2.1, false],
  ["It is version 2.10.0 of 2024-05-03.", 2024, true],
  ["It is 12.500.", 12.5, true],
])("%s holds %d: %s", (quote, value, isHeld) => {
  expect(hasQuotedValue(quote, value)).toBe(isHeld);
});

it("the names of a schema are found at any depth", () => {
  const item = { type: "object", properties: { deep: {} } };
  expect(
    [
      ...listPropertyNames({ properties: { a: { items: item } }, $defs: { x: { properties: { b: {} } } } }),
    ].sort(),
  ).toEqual(["a", "b", "deep"]);
  expect(listPropertyNames({ properties: { a: { default: null, enum: [{ properties: "x" }] } } })).toEqual(
    new Set(["a"]),
  );
});
