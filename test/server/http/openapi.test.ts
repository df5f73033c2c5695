import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { API_VERSION } from "../../../src/core/protocol/conversation.js";
import { ERROR_STATUS } from "../../../src/server/http/responses.js";
import type { Service } from "../../../src/server/service.js";
import { breaches, held } from "../../support/exchanges.js";
import { checkRequest, checkResponse, description } from "../../support/openapi.js";
import { KEY, serviceFor } from "../../support/service.js";
import { ask } from "../../support/wire.js";

let service: Service;
beforeAll(async () => {
  service = await serviceFor();
});
afterAll(() => service.close());

it("is served as it is shipped, without a key", async () => {
  const answer = await ask(service.baseUrl, { path: "/openapi.json" });
  expect(answer).toMatchObject({
    ...{ status: 200, headers: { "content-type": "application/json; charset=utf-8" } },
  });
  const shipped = readFileSync(join(import.meta.dirname, "../../../openapi.yaml"), "utf8");
  expect(JSON.parse(answer.text)).toEqual(parse(shipped));
});

it("has the version that every envelope states", () => {
  expect(description.info).toMatchObject({ version: API_VERSION });
});

it("says what generators of clients make the right types of", () => {
  const { paths, components } = description as {
    paths: Record<string, { post?: object }>;
    components: { schemas: { CreateRequest: { required: string[]; properties: Record<string, object> } } };
  };
  const { required, properties } = components.schemas.CreateRequest;
  expect(required).toEqual(["prompt"]);
  // With a default, the field is required in some; without additionalProperties, every property of a schema is invalid.
  expect(properties.structured_output).not.toHaveProperty("default");
  expect(properties.output_schema).toHaveProperty("additionalProperties", true);
  // A parameter named Content-Type is ignored; the type of a body is sent.
  const { post: stop } = paths["/api/v1/conversation/{request_id}/stop"] ?? {};
  expect(stop).toHaveProperty("requestBody.required", false);
  expect(stop).toHaveProperty("requestBody.content", { "application/json": expect.anything() });
});

it("names every error code of the service and no other", () => {
  const { components } = description as { components: { schemas: { ErrorCode: { enum: string[] } } } };
  expect([...components.schemas.ErrorCode.enum].sort()).toEqual(Object.keys(ERROR_STATUS).sort());
});

it("holds every request of the client and every answer of the service in this process", async () => {
  const before = { ...held };
  const client = new ResearchClient({ baseUrl: service.baseUrl, apiKey: KEY });
  const { request_id } = await client.create({ prompt: "why" });
  await client.status(request_id);
  await client.close();
  expect(held).toEqual({ requests: before.requests + 2, responses: before.responses + 2 });
});

it("sees a breach of an answer, wherever the test looks", async () => {
  const { request, response } = { request: good, response: { ...good, responseBody: "{}" } };
  expect(checkResponse(request)).toEqual([]);
  expect(checkResponse(response)).not.toEqual([]);
  expect(breaches).toEqual([]);
});

const good = {
  method: "GET",
  path: "/api/v1/conversation/x/status",
  requestHeaders: { authorization: "Bearer k" },
  requestBody: "",
  status: 200,
  responseHeaders: { "content-type": "application/json" },
  responseBody: JSON.stringify({
    status: true,
    version: "1.0.0",
    data: { request_id: "x", status: "PENDING", created_at: "2030-01-01T00:00:00.000+00:00" },
  }),
};

describe("a breach is seen:", () => {
  const create = { ...good, method: "POST", path: "/api/v1/conversations", requestBody: `{"prompt":"x"}` };
  const json = { ...good.requestHeaders, "content-type": "application/json" };
  const stop = { ...create, path: "/api/v1/conversation/x/stop", requestHeaders: json, requestBody: "" };
  it.each([
    ["an unknown path", { ...good, path: "/api/v1/conversations/x" }],
    ["a key that is missing", { ...good, requestHeaders: {} }],
    ["no content type", create],
    ["a blank prompt", { ...create, requestHeaders: json, requestBody: `{"prompt":" "}` }],
    ["a lone schema", { ...create, requestHeaders: json, requestBody: `{"prompt":"x","output_schema":{}}` }],
    ["a stop without its content type", { ...stop, requestHeaders: good.requestHeaders }],
    ["a stop with a field in its body", { ...stop, requestBody: `{"a":1}` }],
    ["a status with a body", { ...good, requestBody: "{}" }],
  ])("request: %s", (_name, exchange) => {
    expect(checkRequest(exchange)).not.toEqual([]);
  });

  const failure = (code: string) =>
    JSON.stringify({ status: false, version: "1.0.0", error: { message: "", code } });
  it.each([
    ["a state nobody knows", { ...good, responseBody: good.responseBody.replace("PENDING", "WAITING") }],
    ["no envelope", { ...good, responseBody: `{"request_id":"x"}` }],
    ["a date without an offset", { ...good, responseBody: good.responseBody.replace("+00:00", "") }],
    ["an unknown code", { ...good, status: 404, responseBody: failure("LOST") }],
    ["a 429 without Retry-After", { ...create, status: 429, responseBody: failure("RATE_LIMIT_EXCEEDED") }],
    ["another content type", { ...good, responseHeaders: { "content-type": "text/html" } }],
    ["an undescribed success", { ...good, status: 202 }],
  ])("answer: %s", (_name, exchange) => {
    expect(checkResponse(exchange)).not.toEqual([]);
  });
});
