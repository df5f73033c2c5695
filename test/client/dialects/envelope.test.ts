import { describe, expect, test } from "vitest";
import { createInterfaceDialect } from "../../../src/client/dialects/research-interface.js";
import { API_VERSION, type Operation, SERVICE_CODES } from "../../../src/core/protocol/conversation.js";

const { data, fault } = createInterfaceDialect();

describe("§2: an envelope", () => {
  test.each([
    ["of success", { status: true, data: { a: 1 } }, { a: 1 }],
    ["with unknown fields", { status: true, version: 7, data: {}, x: 1 }, {}],
  ])("%s", (_what, body, expected) => {
    expect(data("output", body)).toEqual(expected);
    expect(fault("output", 200, body)).toBeUndefined();
  });

  test.each([
    ["of failure", { code: "A", message: "b" }, { code: "A", message: "b" }],
    ["of failure without a message", { code: "A" }, { code: "A", message: "" }],
  ])("%s", (_what, error, expected) => {
    const body = { status: false, error };
    expect(fault("output", 200, body)).toEqual({ ...expected, kind: undefined });
    expect(data("output", body)).toEqual(expect.any(String));
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
    expect(fault("output", 200, body)).toBeUndefined();
    expect(data("output", body)).toEqual(expect.any(String));
  });
});

describe("the data of", () => {
  test.each<[string, Operation, object, boolean]>([
    ["create", "create", { request_id: "a" }, true],
    ["create without an id", "create", {}, false],
    ["create with an invalid id", "create", { request_id: "../x" }, false],
    ["create with a number", "create", { request_id: 7 }, false],
    ["status", "status", { status: "X" }, true],
    ["status without one", "status", {}, false],
    ["stop", "stop", { status: "STOPPED" }, true],
    ["stop without a status", "stop", { message: "x" }, false],
    ["output, whatever it holds", "output", { x: 1 }, true],
  ])("%s", (_what, operation, held, good) => {
    const whole = { ...held, extra: 1 };
    const read = data(operation, { status: true, data: whole });
    expect(read).toEqual(good ? whole : expect.any(String));
  });
});

test.each([
  ["VALIDATION_ERROR", "invalid-input"],
  ["INVALID_API_KEY", "unauthenticated"],
  ["RATE_LIMIT_EXCEEDED", "rate-limited"],
  ["REQUEST_NOT_FOUND", "not-found"],
  ["CONVERSATION_ALREADY_COMPLETED", "refused"],
  ["CONVERSATION_ALREADY_FAILED", "refused"],
  ["NO_CONVERSATION_ALREADY_", undefined],
])("§7: the code %s means %s", (code, kind) => {
  expect(fault("stop", 400, { status: false, error: { code } })?.kind).toBe(kind);
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
