import { expect, test } from "vitest";
import { describeSchemaMismatch, formatResult, formatWithSources } from "../../src/app/format-result.js";
import type { Result } from "../../src/client/workflows/fetch-results.js";

const A = { url: "https://a.example/x(1) y\t", title: " A [b]\n*c* " };
const B = { url: "https://b.example/", title: "" };

const resultOf = (value: unknown, data: object) => ({ value, exact: value, data }) as unknown as Result;

test("text as it is, anything else as indented JSON", () => {
  expect(formatResult(resultOf("a\n", {}))).toBe("a\n");
  expect(formatResult(resultOf({ a: 1 }, {}))).toBe('{\n  "a": 1\n}\n');
});

test("a provider's sources stand at the end of a text in which none of them is named", () => {
  const data = {
    provider_status: "done",
    sources: [A, {}, { title: "A book" }, B, { ...B, title: 1 }],
  };
  expect(formatWithSources(resultOf("text\n\n", data))).toBe(
    [
      "text\n\n## Sources\n",
      "1. [A \\[b\\] \\*c\\*](https://a.example/x%281%29%20y%09)",
      "2. without an address",
      "3. A book",
      "4. [https://b.example/](https://b.example/)",
      "5. [https://b.example/](https://b.example/)\n",
    ].join("\n"),
  );
});

test.each<[string, unknown, object]>([
  ["a text that names one of them", `see ${B.url}`, { provider_status: "done", sources: [A, B] }],
  ["what is no text", { a: 1 }, { provider_status: "done", sources: [B] }],
  ["the interface's own result", "text", { sources: [B] }],
  ["no source with an address", "text", { provider_status: "done", sources: [{ title: "x" }] }],
  ["no list of sources", "text", { provider_status: "done", sources: B }],
])("no sources are added to %s", (_, value, data) => {
  const result = resultOf(value, data);
  expect(formatWithSources(result)).toBe(formatResult(result));
});

test.each<[string | undefined, object, string]>([
  ["/a~1b~0c/0", { object: "agent_run" }, "at /a~1b~0c/0: must be string: Exa found no evidence for it"],
  ["/a~1b~0c/1", { object: "agent_run" }, "at /a~1b~0c/1: must be string"],
  ["/a~1b~0c/0", {}, "at /a~1b~0c/0: must be string"],
  ["", {}, "at the result: must be string"],
  [undefined, {}, "must be string"],
])("what does not fit the schema at %j is said", async (path, more, text) => {
  const result = resultOf({ "a/b~c": [null, 1] }, { provider_status: "done", ...more });
  const sentence = await describeSchemaMismatch(result, {
    ...(path !== undefined && { path }),
    message: "must be string",
  });
  expect(sentence).toBe(`the result does not fit its schema: ${text}`);
});
