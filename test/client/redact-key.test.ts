import { expect, test } from "vitest";
import { withoutKey } from "../../src/client/redact-key.js";
import type { Data } from "../../src/protocol/data.js";

const shown = (data: Data, apiKey: string) => withoutKey({ kind: "data", data }, apiKey);

test.each([
  ["a text", { output: "Bearer sk-12345678!" }, { output: "Bearer [key]!" }],
  ["the name of a field", { "sk-12345678": 1 }, { "[key]": 1 }],
  ["a list deep inside", { a: [{ b: ["sk-12345678"] }, 7] }, { a: [{ b: ["[key]"] }, 7] }],
])("the key is hidden in %s", (_where, data, hidden) => {
  expect(shown(data, "sk-12345678")).toEqual({ kind: "data", data: hidden });
});

test("a key of digits is hidden where it stands as a number", () => {
  expect(shown({ n: 12345678, m: 1234 }, "12345678")).toEqual({
    kind: "data",
    data: { n: "[key]", m: 1234 },
  });
});

test("a key that JSON would write with a backslash is found as well", () => {
  expect(shown({ output: 'my "quoted\\key" here' }, '"quoted\\key"')).toEqual({
    kind: "data",
    data: { output: "my [key] here" },
  });
});

test("what does not hold the key is not copied", () => {
  const verdict = { kind: "data" as const, data: { output: ["nothing", { here: null }] } };
  expect(withoutKey(verdict, "sk-12345678")).toBe(verdict);
});
