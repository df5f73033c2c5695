import { expect, test } from "vitest";
import { buildHttpEndpoint, CREATE, DEFAULT_GAPS } from "../../../src/core/protocol/conversation.js";

test("§4.1: create", () => {
  expect(CREATE).toEqual({ method: "POST", path: "/api/v1/conversations", json: true });
});

test.each([
  ["stop", { method: "POST", path: "/api/v1/conversation/a.b/stop", json: true }],
  ["status", { method: "GET", path: "/api/v1/conversation/a.b/status", json: false }],
  ["output", { method: "GET", path: "/api/v1/conversation/a.b/output", json: false }],
] as const)("§4.2 to §4.4: %s", (operation, expected) => {
  expect(buildHttpEndpoint(operation, "a.b")).toEqual(expected);
});

test("what the interface does not show is as the settings say", () => {
  const gaps = {
    ...DEFAULT_GAPS,
    statusMethod: "POST",
    outputMethod: "PUT",
    outputPath: "/{request_id}/x/{request_id}",
  };
  expect(buildHttpEndpoint("stop", "a", gaps)).toEqual(buildHttpEndpoint("stop", "a"));
  expect(buildHttpEndpoint("status", "a", gaps).method).toBe("POST");
  expect(buildHttpEndpoint("output", "a", gaps)).toEqual({ method: "PUT", path: "/a/x/a", json: false });
});

test("an id stands in a path with what means something there escaped", () => {
  expect(buildHttpEndpoint("stop", "a/b").path).toBe("/api/v1/conversation/a%2Fb/stop");
});

test("the result is the field output of the data unless a setting says otherwise", () => {
  expect(DEFAULT_GAPS.outputField).toBe("output");
});
