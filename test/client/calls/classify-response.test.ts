import { describe, expect, test } from "vitest";
import { classifyResponse } from "../../../src/client/calls/classify-response.js";
import { OutcomeUnknownError, RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import type { FaultName } from "../../../src/client/calls/failure-policy.js";
import { research } from "../../../src/client/dialects/research.js";
import type { Operation } from "../../../src/ground/protocol/conversation.js";

const ID = "id-1";

function classify(operation: Operation, status: number, body: string, headers: Record<string, string> = {}) {
  const answer = { kind: "answer" as const, status, headers, body: Buffer.from(body) };
  const requestId = operation === "create" ? undefined : ID;
  return classifyResponse(answer, {
    dialect: research(),
    operation,
    requestId,
    target: "GET http://x",
    peer: "x",
    now: 0,
  });
}
const good = (data: object) => JSON.stringify({ status: true, version: "1.0.0", data });
const bad = (code: string) =>
  JSON.stringify({ status: false, version: "1.0.0", error: { code, message: "why" } });

test.each([
  ["create", { request_id: "new" }],
  ["status", { status: "PENDING" }],
  ["status", { status: "PENDING", request_id: ID }],
  ["stop", { status: "STOPPED" }],
  ["output", { anything: [1] }],
] as const)("a good answer to %s is its data: %j", (operation, data) => {
  expect(classify(operation, 200, good(data))).toEqual({ kind: "data", data, waitMs: 0 });
});

describe("a refusal", () => {
  test.each([
    [400, "VALIDATION_ERROR", "invalid-input"],
    [401, "INVALID_API_KEY", "unauthenticated"],
    [429, "RATE_LIMIT_EXCEEDED", "rate-limited"],
    [404, "REQUEST_NOT_FOUND", "not-found"],
    [400, "CONVERSATION_ALREADY_COMPLETED", "refused"],
    [400, "CONVERSATION_ALREADY_X", "refused"],
    [400, "UNHEARD_OF", "refused"],
    [403, "UNHEARD_OF", "unauthenticated"],
    [404, "UNHEARD_OF", "not-found"],
    [413, "UNHEARD_OF", "invalid-input"],
    [200, "VALIDATION_ERROR", "invalid-input"],
    [200, "UNHEARD_OF", "refused"],
  ])("HTTP %d with %s in an envelope: %s", (status, code, kind) => {
    const found = classify("stop", status, bad(code));
    expect(found).toMatchObject({ kind: "refused", error: { kind, enveloped: true, code, message: "why" } });
    expect(found.kind === "refused" && found.error).toBeInstanceOf(RefusedError);
  });

  test.each([
    [401, "unauthenticated", "NOT_AUTHENTICATED"],
    [403, "unauthenticated", "NOT_AUTHENTICATED"],
    [404, "not-found", "NOT_FOUND"],
    [429, "rate-limited", "RATE_LIMITED"],
    [413, "invalid-input", "USAGE"],
    [414, "invalid-input", "USAGE"],
    [431, "invalid-input", "USAGE"],
  ])("HTTP %d without an envelope: %s", (status, kind, code) => {
    const found = classify("status", status, "<html>");
    expect(found).toMatchObject({ kind: "refused", error: { kind, enveloped: false, code } });
    const hint = kind === "not-found" ? expect.stringContaining("base URL") : undefined;
    expect(found.kind === "refused" && found.error.hint).toEqual(hint);
  });

  test("says how long to wait", () => {
    const found = classify("create", 429, bad("RATE_LIMIT_EXCEEDED"), { "retry-after": "90" });
    expect(found).toMatchObject({ error: { retryAfter: 90, httpStatus: 429 } });
  });
});

describe("a fault", () => {
  test.each<[Operation, number, string, FaultName]>([
    ["status", 200, "", "unreadable"],
    ["status", 200, "[]", "unreadable"],
    ["status", 200, good({}), "unreadable"],
    ["create", 200, good({ request_id: "../x" }), "unreadable"],
    ["status", 200, good({ status: "X", request_id: "other" }), "wrong-request"],
    ["status", 200, "[".repeat(2_000), "oversized"],
    ["status", 302, "", "redirected"],
    ["create", 303, "", "see-other"],
    ["status", 405, "", "wrong-method"],
    ["output", 405, "", "wrong-method"],
    ["create", 405, "", "stray"],
    ["status", 408, "", "ambiguous"],
    ["create", 499, "", "ambiguous"],
    ["create", 408, bad("REQUEST_TIMEOUT"), "ambiguous"],
    ["stop", 408, bad("CONVERSATION_ALREADY_STOPPED"), "ambiguous"],
    ["stop", 409, bad("CONVERSATION_ALREADY_COMPLETED"), "ambiguous"],
    ["create", 425, bad("X"), "ambiguous"],
    ["create", 421, "", "ambiguous"],
    ["create", 402, "", "stray"],
    ["status", 500, "", "unavailable"],
    ["status", 503, bad("X"), "unavailable"],
  ])("%s, HTTP %d %j: %s", (operation, status, body, fault) => {
    expect(classify(operation, status, body)).toMatchObject({ kind: "fault", fault, sent: true });
  });

  test.each([
    [503, OutcomeUnknownError],
    [303, OutcomeUnknownError],
    [302, UnreachableError],
  ])("HTTP %d to a create", (status, type) => {
    const found = classify("create", status, "");
    expect(found.kind === "fault" && found.error).toBeInstanceOf(type);
  });

  test("on the wire is unknown for a create only if it was sent", () => {
    const lost = (sent: boolean) =>
      classifyResponse(
        { kind: "failure", fault: "lost", message: "gone", sent, headers: {}, body: Buffer.alloc(0) },
        { dialect: research(), operation: "create", target: "POST http://x", peer: "x", now: 0 },
      );
    expect(lost(true)).toMatchObject({ sent: true, error: { code: "OUTCOME_UNKNOWN" } });
    expect(lost(false)).toMatchObject({
      sent: false,
      error: { code: "UNREACHABLE", message: "x cannot be reached: gone" },
    });
  });
});
