import { expect, test } from "vitest";
import { CodedError } from "../../../src/app/errors.js";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { findProvider } from "../../../src/client/dialects/providers.js";
import { History } from "../../../src/client/store/history/history.js";
import {
  type AccountRequest,
  isFallbackAllowed,
  submitWithFallback,
} from "../../../src/client/workflows/account-fallback.js";
import { NoAccountError, QuotaExceededError } from "../../../src/client/workflows/errors.js";
import { systemClock } from "../../../src/core/clock.js";
import { answer, envelope, ok, refuse } from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";

const ACCOUNT = { account: {}, body: { prompt: "x" } } as AccountRequest;
const BY_DEFAULT = { ...ACCOUNT, account: { provider: findProvider("exa") } } as AccountRequest;
const BY_NAME = { ...BY_DEFAULT, body: { prompt: "x", model: "m" } };
const gone = new RefusedError("invalid-input", true, "model_not_found", "x");
const day = { source: "--per-day", origin: "https://a.example", profile: null };

test.each<[string, unknown, boolean, AccountRequest?]>([
  ["this machine's limit of an hour", new QuotaExceededError(1, 1_000, 0), true],
  ["one of a day", new QuotaExceededError(1, 1_000, 0, day), false],
  ["no connection", new UnreachableError("UNREACHABLE", "x", { unsent: true }), true],
  ["an answer that cannot be read", new UnreachableError("BAD_RESPONSE", "x"), false],
  ["a 429", new RefusedError("rate-limited", true, "RATE_LIMITED", "x"), true],
  ["a refused question", new RefusedError("refused", true, "NOT_ALLOWED", "x"), false],
  ["no key for its address", new CodedError("NOT_AUTHENTICATED", "x"), true],
  ["a default model that has ended", gone, true, BY_DEFAULT],
  ["a named model that has ended", gone, false, BY_NAME],
  [
    "another refusal that names a model",
    new RefusedError("refused", true, "model_not_found", "x"),
    false,
    BY_DEFAULT,
  ],
  ["another invalid field", new RefusedError("invalid-input", true, "X", "x"), false, BY_DEFAULT],
  ["a model that the interface does not know", gone, false],
  ["anything else", new Error("x"), false],
])("after %s the next account may be asked, or not", (_what, error, goesOn, request = ACCOUNT) => {
  expect(isFallbackAllowed(error, request)).toBe(goesOn);
});

const BUSY = refuse(429, "RATE_LIMIT_EXCEEDED");

const KEYLESS = undefined;
const WITH_ID = answer({ status: 429, body: envelope({ request_id: "a" }) });

test.each([
  ["the first one takes it", [ok({ request_id: "a" }), BUSY], "a of a", [1, 0]],
  ["the first one is busy", [BUSY, ok({ request_id: "b" })], "b of b, asked of a", [1, 1]],
  ["the first one has no key", [KEYLESS, ok({ request_id: "b" })], "b of b, asked of a", [0, 1]],
  [
    "the first one refuses the question",
    [refuse(400, "VALIDATION_ERROR"), ok({ request_id: "b" })],
    "VALIDATION_ERROR",
    [1, 0],
  ],
  ["the first one is busy, and gives an id", [WITH_ID, BUSY], "OUTCOME_UNKNOWN", [1, 0]],
  ["both are busy", [BUSY, BUSY], "a: RATE_LIMIT_EXCEEDED, b: RATE_LIMIT_EXCEEDED", [1, 1]],
])("of two accounts, %s", async (_what, behaviours, expected, sent) => {
  const servers = await Promise.all(behaviours.map((behaviour = BUSY) => faultServer(() => behaviour)));
  const history = new History(folderWith(), () => Date.now());
  const accounts = servers.map(({ url }, index) => {
    const client = new ResearchClient({ baseUrl: url, apiKey: "k" });
    const account = {
      ...{ client, origin: client.origin, profile: "ab"[index] ?? null, clock: systemClock },
      ...{ history, unrecorded: false, outputField: "output" },
      get apiKey() {
        if (behaviours[index] === KEYLESS) throw new CodedError("NOT_AUTHENTICATED", "x");
        return "k";
      },
    };
    return { account, body: { prompt: "x" } };
  });
  const outcome = await submitWithFallback(accounts, {}).then(
    ({ submitted, request }) => {
      const askedOf = history.list({ limit: 1 })[0]?.asked_of?.profile;
      const of = `${submitted.data.request_id} of ${request.account.profile}`;
      return askedOf === undefined ? of : `${of}, asked of ${askedOf}`;
    },
    (error) =>
      error instanceof NoAccountError
        ? error.reasons.map(({ name, error }) => `${name}: ${Object(error).code}`).join(", ")
        : error.code,
  );
  expect(outcome).toBe(expected);
  expect(servers.map((server) => server.count("create"))).toEqual(sent);
});

test("what is asked of the first account holds: its signal, its limit, and the wait for it", async () => {
  const { url } = await faultServer(() => ok({ request_id: "a" }));
  const client = new ResearchClient({ baseUrl: url, apiKey: "k" });
  const history = new History(folderWith(), () => Date.now());
  const account = {
    ...{ client, origin: client.origin, apiKey: "k", profile: null },
    ...{ clock: systemClock, history, unrecorded: true, outputField: "output" },
  };
  const asked = [{ account, body: { prompt: "x" }, limit: 1 }];
  const reason = new Error("enough");
  await expect(submitWithFallback(asked, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await submitWithFallback(asked, {});
  await expect(submitWithFallback(asked, {})).rejects.toBeInstanceOf(QuotaExceededError);
  const onWait = (_: number, request: AccountRequest) => Promise.reject(request.body);
  await expect(submitWithFallback(asked, { waitForQuota: true, onWait })).rejects.toBe(asked[0]?.body);
  const ending = new AbortController();
  const twice = submitWithFallback([...asked, { account, body: { prompt: "y" } }], {
    signal: ending.signal,
    onNext: () => ending.abort(reason),
  });
  await expect(twice).rejects.toBe(reason);
  await expect(submitWithFallback([], {})).rejects.toThrow("no account is named");
});
