import { expect, test } from "vitest";
import type { StatusData } from "../../../src/client/calls/research-client.js";
import type { History } from "../../../src/client/store/history/history.js";
import type { StateSubject } from "../../../src/client/store/history/history-records.js";
import { recordState } from "../../../src/client/workflows/find-and-query-requests.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { accountWith } from "../../support/account.js";

const entry = (): StateSubject => ({
  ...{ request_id: "id", status: "PENDING", origin: "o", created_at: null, sent_at: "t" },
  base_path: "",
});
const failing = (error: Error) => {
  const fail = () => {
    throw error;
  };
  return accountWith({ origin: "o", history: { observe: fail } as unknown as History });
};

const usage = { input_tokens: 1, output_tokens: 2 };
const details = { cost_dollars: 2, usage, message: "m" };
const part = { status: "FAILED", provider_status: "incomplete", output: "x" };

test.each<[string, StatusData, facts: object, isKept?: boolean]>([
  ["a state", { ...details, status: "PROCESSING", provider_status: "running", output: "x" }, {}],
  ["an end", { ...details, status: "COMPLETED" }, { cost_dollars: 2, tokens: 3 }],
  ["no cost", { ...details, status: "COMPLETED", cost_dollars: "2" }, { tokens: 3 }],
  ["why it failed", { status: "FAILED", message: "m" }, { message: "m" }],
  ["why it stopped", { status: "STOPPED", message: "m" }, { message: "m" }],
  ["what was cut short", part, { cut_short: true }, true],
  ["a provider's result", { status: "COMPLETED", provider_status: "done", output: "x" }, {}, true],
  ["a provider's end", { status: "COMPLETED", provider_status: "done" }, {}],
  ["what the interface gives", { status: "COMPLETED", output: "x" }, {}],
])("%s is kept, and the entry is in step with it", (_, data, facts, isKept = false) => {
  const seen: unknown[] = [];
  const history = {
    observe: (before: StateSubject, ...given: unknown[]) => seen.push([before.status, ...given]),
    results: "results",
    keep: (store: unknown, { origin, request_id }: StateSubject, text: string) =>
      seen.push([store, origin, request_id, text]),
  };
  const target = entry();
  const account = accountWith({ origin: "o", history: history as unknown as History });
  expect(recordState({ entry: target, account }, data)).toBeUndefined();
  const kept = isKept ? [["results", "o", "id", JSON.stringify(data)]] : [];
  expect(seen).toEqual([["PENDING", data.status, facts], ...kept]);
  expect(target.status).toBe(data.status);
  expect(recordState({ entry: entry(), account: accountWith({ origin: "o" }) }, data)).toBeUndefined();
});

test("a request that is not in the history is not kept", () => {
  expect(
    recordState({ entry: undefined, account: failing(new Error("x")) }, { status: "FAILED" }),
  ).toBeUndefined();
});

test("what another origin says of the same id is not kept", () => {
  const target = entry();
  const account = { ...failing(new Error("written")), origin: "other" };
  expect(recordState({ entry: target, account }, { status: "FAILED" })).toBeUndefined();
  expect(target.status).toBe("PENDING");
});

test("what cannot be kept is returned, and the entry stays as it was", () => {
  const local = new LocalError("disk");
  const target = entry();
  expect(recordState({ entry: target, account: failing(local) }, { status: "FAILED" })).toBe(local);
  const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  expect(recordState({ entry: target, account: failing(full) }, { status: "FAILED" })).toMatchObject({
    name: "LocalError",
    cause: full,
  });
  expect(target.status).toBe("PENDING");
});
