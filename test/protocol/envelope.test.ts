import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  API_VERSION,
  createdData,
  outputData,
  readEnvelope,
  SERVICE_CODES,
  statusData,
  stopData,
} from "../../src/protocol/conversation.js";

describe("§2: an envelope", () => {
  test.each([
    ["of success", { status: true, data: { a: 1 } }, { ok: true, data: { a: 1 } }],
    ["with unknown fields", { status: true, version: 7, data: {}, x: 1 }, { ok: true, data: {} }],
    [
      "of failure",
      { status: false, error: { code: "A", message: "b" } },
      { ok: false, error: { code: "A", message: "b" } },
    ],
    [
      "of failure without a message",
      { status: false, error: { code: "A" } },
      { ok: false, error: { code: "A", message: "" } },
    ],
  ])("%s", (_what, body, expected) => {
    expect(readEnvelope(body)).toEqual(expected);
  });

  test.each([
    ...[
      undefined,
      null,
      "x",
      [],
      {},
      { status: true },
      { status: true, data: null },
      { status: "true", data: {} },
    ],
    ...[{ status: false }, { status: false, error: {} }, { status: false, error: { code: 1 } }],
    ...[
      { status: false, error: { code: "A", message: 1 } },
      { status: false, data: {} },
      { status: 1, data: {} },
    ],
    { status: true, error: { code: "A" } },
  ])("%j is none", (body) => {
    expect(readEnvelope(body)).toBeUndefined();
  });
});

describe("the data of", () => {
  test.each([
    ["create", createdData, { request_id: "a" }, true],
    ["create without an id", createdData, {}, false],
    ["create with an invalid id", createdData, { request_id: "../x" }, false],
    ["create with a number", createdData, { request_id: 7 }, false],
    ["status", statusData, { status: "X" }, true],
    ["status without one", statusData, {}, false],
    ["stop", stopData, { status: "STOPPED" }, true],
    ["stop without a status", stopData, { message: "x" }, false],
    ["output, whatever it holds", outputData, { x: 1 }, true],
  ])("%s", (_what, schema, data, good) => {
    const read = v.safeParse(schema, { ...data, extra: 1 });
    expect(read.success).toBe(good);
    if (good) expect(read.output).toEqual({ ...data, extra: 1 });
  });
});

test("§7: each code with the HTTP status it comes with, and §9 the version", () => {
  expect(SERVICE_CODES).toEqual({
    VALIDATION_ERROR: 400,
    INVALID_API_KEY: 401,
    RATE_LIMIT_EXCEEDED: 429,
    REQUEST_NOT_FOUND: 404,
    CONVERSATION_ALREADY_COMPLETED: 400,
  });
  expect(API_VERSION).toMatch(/^\d+\.\d+\.\d+$/);
});
