import { expect, it } from "vitest";
import { parseExact } from "../../../../src/core/json/exact-json.js";
import {
  ALL_CAPABILITIES,
  buildChatBody,
  type Capabilities,
  countBodyBytes,
  reduceCapabilities,
} from "../../../../src/reader/model/endpoint/chat-request.js";
import { buildResultPrompt } from "../../../../src/reader/writing/prompts.js";

const REQUEST = {
  messages: [{ role: "user" as const, content: "Ünï 🙂" }],
  schema: { name: "plan", schema: { type: "object" } },
  maxTokens: 100,
};

it("the bytes of the longest body are counted", () => {
  for (const format of ["json_schema", "json_object", "text"] as const) {
    for (const limit of ["max_tokens", "max_completion_tokens"] as const) {
      const body = buildChatBody("m", REQUEST, { ...ALL_CAPABILITIES, format, limit });
      expect(countBodyBytes("m", REQUEST)).toBeGreaterThanOrEqual(Buffer.byteLength(body));
      expect(JSON.parse(body)).toMatchObject({ model: "m", stream: true, [limit]: 100 });
    }
  }
});

it.each<[string, Partial<Capabilities>, object]>([
  [
    "all of it",
    {},
    {
      stream_options: { include_usage: true },
      temperature: 0,
      response_format: { type: "json_schema", json_schema: REQUEST.schema },
    },
  ],
  [
    "JSON without a schema",
    { format: "json_object", temperature: false },
    { stream_options: { include_usage: true }, response_format: { type: "json_object" } },
  ],
  ["text alone", { format: "text", streamUsage: false }, { temperature: 0 }],
])("what an endpoint takes is sent, and nothing else: %s", (_name, capabilities, more) => {
  const { messages } = REQUEST;
  const body = JSON.parse(buildChatBody("m", REQUEST, { ...ALL_CAPABILITIES, ...capabilities }));
  expect(body).toEqual({ model: "m", messages, stream: true, max_tokens: 100, ...more });
});

it("a schema is sent with the numbers that stand in it", () => {
  const text = '{"maximum":12345678901234567890,"minimum":-0}';
  const schema = parseExact(text) as Record<string, unknown>;
  const body = buildChatBody("m", { ...REQUEST, schema: { name: "result", schema } }, ALL_CAPABILITIES);
  expect(body).toContain(`"json_schema":{"name":"result","schema":${text}}`);
  expect(buildResultPrompt(schema).instructions).toContain(text);
});

it("a complaint takes out what it names, and else the form of the reply", () => {
  expect(reduceCapabilities(ALL_CAPABILITIES, "use max_completion_tokens", 100)).toEqual({
    ...ALL_CAPABILITIES,
    limit: "max_completion_tokens",
  });
  expect(reduceCapabilities(ALL_CAPABILITIES, "stream_options: unknown", 100)).toEqual({
    ...ALL_CAPABILITIES,
    streamUsage: false,
  });
  expect(reduceCapabilities(ALL_CAPABILITIES, "temperature must be 1", 100)).toEqual({
    ...ALL_CAPABILITIES,
    temperature: false,
  });
  let capabilities: Capabilities | undefined = {
    ...{ ...ALL_CAPABILITIES, limit: "max_completion_tokens", streamUsage: false, temperature: false },
  };
  const complaint = "max_completion_tokens, temperature, stream_options";
  const formats: string[] = [];
  for (; capabilities; capabilities = reduceCapabilities(capabilities, complaint, 100))
    formats.push(capabilities.format);
  expect(formats).toEqual(["json_schema", "json_object", "text"]);
});

it("a smaller limit of the output is kept to, once", () => {
  const complaint = "max_tokens is too large: 5000. This model supports at most 4096 completion tokens";
  const capabilities = reduceCapabilities(ALL_CAPABILITIES, complaint, 5_000);
  expect(capabilities).toEqual({ ...ALL_CAPABILITIES, mostTokens: 4_096 });
  const request = { ...REQUEST, maxTokens: 5_000 };
  expect(capabilities && JSON.parse(buildChatBody("m", request, capabilities)).max_tokens).toBe(4_096);
  expect(capabilities && reduceCapabilities(capabilities, complaint, 5_000)?.format).toBe("json_object");
});
