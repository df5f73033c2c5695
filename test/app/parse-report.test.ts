import { expect, test } from "vitest";
import { convertToReport, parseReport } from "../../src/app/parse-report.js";

const given = { citations: [], sources: [] };

test.each<[string, string, unknown, object]>([
  ["x.JSON", '{"output":"x","model":"m"}', "x", { output: "x", model: "m" }],
  ["x.json", '{"a":1}', { a: 1 }, {}],
  ["x.json", "[1]", [1], {}],
  ["x.json", "null", null, {}],
  ["x.json.md", '{"output":"x"}', '{"output":"x"}', {}],
])("the report in %s that holds %s", (file, text, value, data) => {
  const { report, result } = parseReport(text, file);
  expect(result).toMatchObject({ value, data });
  expect(report).toEqual(typeof value === "string" ? { text: value, given } : { value, given });
});

test("what is not text, or not JSON, is no report", () => {
  const hint = "Give a report as Markdown or docx, or what `output --json` printed.";
  const isNotText = expect.objectContaining({ message: "x.md is not text", facts: { hint } });
  expect(() => parseReport("a\0b", "x.md")).toThrow(isNotText);
  expect(() => parseReport("{", "x.json")).toThrow("x.json is not JSON");
});

test("the addresses of a provider's sources are given in their order", () => {
  const sources = [{ url: "https://a.example" }, { url: 5 }, null];
  expect(convertToReport({ data: { sources }, value: 1 }).given.sources).toEqual([
    "https://a.example",
    "",
    "",
  ]);
});
