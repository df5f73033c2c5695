import { expect, test } from "vitest";
import { keepCheck, readKeptCheck } from "../../src/app/kept-check.js";
import { accountWithRequest } from "../support/account.js";

const outcome = { complete: true, citations: [], pages: [], counts: {}, request_id: null, file: "x.md" };

test("the last check of a request that was made here is kept, and read if it is one", () => {
  const { account, history, target } = accountWithRequest();
  for (const checked_at of ["1", "2"]) keepCheck(account, target, { ...outcome, checked_at } as never);
  expect(readKeptCheck(account, "id-1234")).toMatchObject({ checked_at: "2" });
  keepCheck(account, { requestId: "unknown", entry: undefined }, outcome as never);
  keepCheck({ ...account, origin: "https://b.example" }, target, outcome as never);
  keepCheck({ ...account, history: undefined }, target, outcome as never);
  expect(readKeptCheck(account, "unknown")).toBeUndefined();
  expect(readKeptCheck({ ...account, origin: "https://b.example" }, "id-1234")).toBeUndefined();
  expect(readKeptCheck({ ...account, history: undefined }, "id-1234")).toBeUndefined();
  for (const text of ["{", "null", "{}", '{"citations":[]}', '{"counts":{}}']) {
    history.checks.keep(account.origin, "id-1234", text, true);
    expect(readKeptCheck(account, "id-1234"), text).toBeUndefined();
  }
});
