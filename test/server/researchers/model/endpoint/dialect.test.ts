import { expect, it } from "vitest";
import { parseExact } from "../../../../../src/json/exact-json.js";
import {
  bodyOf,
  bytesOf,
  type Dialect,
  FULL_DIALECT,
  simpler,
} from "../../../../../src/server/researchers/model/endpoint/dialect.js";
import { resultPrompt } from "../../../../../src/server/researchers/model/prompts.js";

const REQUEST = {
  messages: [{ role: "user" as const, content: "Ünï 🙂" }],
  schema: { name: "plan", schema: { type: "object" } },
  maxTokens: 100,
};

it("the bytes of the longest body are counted", () => {
  for (const format of ["json_schema", "json_object", "text"] as const) {
    for (const limit of ["max_tokens", "max_completion_tokens"] as const) {
      const body = bodyOf("m", REQUEST, { ...FULL_DIALECT, format, limit });
      expect(bytesOf("m", REQUEST)).toBeGreaterThanOrEqual(Buffer.byteLength(body));
      expect(JSON.parse(body)).toMatchObject({ model: "m", stream: true, [limit]: 100 });
    }
  }
});

it("a schema is sent with the numbers that stand in it", () => {
  const text = '{"maximum":12345678901234567890,"minimum":-0}';
  const schema = parseExact(text) as Record<string, unknown>;
  const body = bodyOf("m", { ...REQUEST, schema: { name: "result", schema } }, FULL_DIALECT);
  expect(body).toContain(`"json_schema":{"name":"result","schema":${text}}`);
  expect(resultPrompt(schema).instructions).toContain(text);
});

it("a complaint takes out what it names, and else the form of the reply", () => {
  expect(simpler(FULL_DIALECT, "use max_completion_tokens", 100)).toEqual({
    ...FULL_DIALECT,
    limit: "max_completion_tokens",
  });
  expect(simpler(FULL_DIALECT, "stream_options: unknown", 100)).toEqual({
    ...FULL_DIALECT,
    streamUsage: false,
  });
  expect(simpler(FULL_DIALECT, "temperature must be 1", 100)).toEqual({
    ...FULL_DIALECT,
    temperature: false,
  });
  let dialect: Dialect | undefined = FULL_DIALECT;
  const formats: string[] = [];
  for (; dialect; dialect = simpler(dialect, "bad request", 100)) formats.push(dialect.format);
  expect(formats).toEqual(["json_schema", "json_object", "text"]);
});

it("a smaller limit of the output is kept to, once", () => {
  const complaint = "max_tokens is too large: 5000. This model supports at most 4096 completion tokens";
  const dialect = simpler(FULL_DIALECT, complaint, 5_000);
  expect(dialect).toEqual({ ...FULL_DIALECT, mostTokens: 4_096 });
  const request = { ...REQUEST, maxTokens: 5_000 };
  expect(dialect && JSON.parse(bodyOf("m", request, dialect)).max_tokens).toBe(4_096);
  expect(dialect && simpler(dialect, complaint, 5_000)?.format).toBe("json_object");
});
