import { expect, test } from "vitest";
import { keepCheck, readKeptCheck } from "../../src/app/kept-check.js";
import { accountWithRequest } from "../support/account.js";

const outcome = { complete: true, citations: [], pages: [], counts: {}, request_id: null, file: "x.md" };

test("the last check of a request that was made here is kept, and read if it is one", () => {
  const { account, history, target } = accountWithRequest();
  for (const checked_at of ["1", "2"]) keepCheck(target, { ...outcome, checked_at } as never);
  expect(readKeptCheck(target)).toMatchObject({ checked_at: "2" });
  const unknown = { requestId: "unknown", entry: undefined, account };
  const elsewhere = { ...target, entry: undefined, account: { ...account, origin: "https://b.example" } };
  const unrecorded = { ...target, account: { ...account, history: undefined } };
  for (const other of [unknown, elsewhere, { ...elsewhere, entry: target.entry }, unrecorded])
    keepCheck(other, outcome as never);
  expect(readKeptCheck(target)).toMatchObject({ checked_at: "2" });
  for (const other of [unknown, elsewhere, unrecorded]) expect(readKeptCheck(other)).toBeUndefined();
  for (const text of ["{", "null", "{}", '{"citations":[]}', '{"counts":{}}']) {
    history.checks.keep(account.origin, "id-1234", text, true);
    expect(readKeptCheck(target), text).toBeUndefined();
  }
});
