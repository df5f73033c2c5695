import { expect, test } from "vitest";
import type { History } from "../../../src/client/store/history/history.js";
import type { Seen } from "../../../src/client/store/history/records.js";
import { observe } from "../../../src/client/workflows/requests.js";
import { LocalError } from "../../../src/ground/files/local-error.js";

const entry = (): Seen => ({
  ...{ request_id: "id", status: "PENDING", origin: "o", created_at: null, sent_at: "t" },
});
const failing = (error: Error) => ({
  observe: () => {
    throw error;
  },
});

test("a state is kept, and the entry is in step with it", () => {
  const seen: [string, string][] = [];
  const history = { observe: (before: Seen, status: string) => seen.push([before.status, status]) };
  const target = entry();
  expect(
    observe({ origin: "o", history: history as unknown as History }, target, { status: "COMPLETED" }),
  ).toBeUndefined();
  expect([seen, target.status]).toEqual([[["PENDING", "COMPLETED"]], "COMPLETED"]);
});

test("a request that is not in the history is not kept", () => {
  expect(
    observe({ origin: "o", history: failing(new Error("x")) as unknown as History }, undefined, {
      status: "FAILED",
    }),
  ).toBeUndefined();
});

test("what another origin says of the same id is not kept", () => {
  const target = entry();
  const history = failing(new Error("written")) as unknown as History;
  expect(observe({ origin: "other", history }, target, { status: "FAILED" })).toBeUndefined();
  expect(target.status).toBe("PENDING");
});

test("what cannot be kept is returned, and the entry stays as it was", () => {
  const local = new LocalError("disk");
  const target = entry();
  expect(
    observe({ origin: "o", history: failing(local) as unknown as History }, target, { status: "FAILED" }),
  ).toBe(local);
  const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  expect(
    observe({ origin: "o", history: failing(full) as unknown as History }, target, { status: "FAILED" }),
  ).toBeInstanceOf(LocalError);
  expect(target.status).toBe("PENDING");
});
