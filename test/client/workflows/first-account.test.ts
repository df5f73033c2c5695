import { expect, test } from "vitest";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import { QuotaExceededError } from "../../../src/client/workflows/errors.js";
import { type AskedAccount, mayGoOn } from "../../../src/client/workflows/first-account.js";

const ACCOUNT = { ports: {}, body: { prompt: "x" } } as AskedAccount;
const day = { source: "--per-day", origin: "https://a.example", profile: null };

test.each([
  ["this machine's limit of an hour", new QuotaExceededError(1, 1_000, 0), true],
  ["one of a day", new QuotaExceededError(1, 1_000, 0, day), false],
  ["no connection", new UnreachableError("UNREACHABLE", "x", { unsent: true }), true],
  ["an answer that cannot be read", new UnreachableError("BAD_RESPONSE", "x"), false],
  ["a 429", new RefusedError("rate-limited", true, "RATE_LIMITED", "x"), true],
  ["a refused question", new RefusedError("refused", true, "NOT_ALLOWED", "x"), false],
  ["anything else", new Error("x"), false],
])("after %s the next account may be asked, or not", (_what, error, goesOn) => {
  expect(mayGoOn(error, ACCOUNT)).toBe(goesOn);
});
