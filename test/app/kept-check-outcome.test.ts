import { expect, test } from "vitest";
import { keepCheckOutcome, readKeptOutcome } from "../../src/app/kept-check-outcome.js";
import { accountWithRequest } from "../support/account.js";

const outcome = { complete: true, citations: [], pages: [], counts: {}, request_id: null, file: "x.md" };

test("the last check of a request that was made here is kept, and read if it is one", () => {
  const { account, history, target } = accountWithRequest();
  for (const checked_at of ["1", "2"]) keepCheckOutcome(target, { ...outcome, checked_at } as never);
  expect(readKeptOutcome(target)).toMatchObject({ checked_at: "2" });
  const unknown = { requestId: "unknown", entry: undefined, account };
  const elsewhere = { ...target, entry: undefined, account: { ...account, origin: "https://b.example" } };
  const unrecorded = { ...target, account: { ...account, history: undefined } };
  for (const other of [unknown, elsewhere, { ...elsewhere, entry: target.entry }, unrecorded])
    keepCheckOutcome(other, outcome as never);
  expect(readKeptOutcome(target)).toMatchObject({ checked_at: "2" });
  for (const other of [unknown, elsewhere, unrecorded]) expect(readKeptOutcome(other)).toBeUndefined();
  for (const text of ["{", "null", "{}", '{"citations":[]}', '{"counts":{}}']) {
    history.checks.keep(account.origin, "id-1234", text, true);
    expect(readKeptOutcome(target), text).toBeUndefined();
  }
});

test.each<[earlier: object, later: object, kept: string]>([
  [{ complete: true, model: "m" }, { complete: false, model: "m" }, "earlier"],
  [{ complete: true, model: "m" }, { complete: false, model: null }, "earlier"],
  [{ complete: true, model: "m" }, { complete: false, model: "n" }, "later"],
  [{ complete: true, model: "m" }, { complete: true, model: null }, "later"],
  [{ complete: true, model: null }, { complete: false, model: null }, "later"],
  [{ complete: false, model: "m" }, { complete: false, model: "m" }, "later"],
])("after a check with %j, one with %j: the %s one is kept", (earlier, later, kept) => {
  const { target } = accountWithRequest();
  keepCheckOutcome(target, { ...outcome, ...earlier, checked_at: "earlier" } as never);
  keepCheckOutcome(target, { ...outcome, ...later, checked_at: "later" } as never);
  expect(readKeptOutcome(target)).toMatchObject({ checked_at: kept });
});
