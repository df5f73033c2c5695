import { expect, test } from "vitest";
import { ResearchClient } from "../../../src/client/calls/client.js";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import { History } from "../../../src/client/store/history/history.js";
import { NoAccountError, QuotaExceededError } from "../../../src/client/workflows/errors.js";
import { type AskedAccount, mayGoOn, submitToFirst } from "../../../src/client/workflows/first-account.js";
import { systemClock } from "../../../src/ground/clock.js";
import { ok, refuse } from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";

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

const BUSY = refuse(429, "RATE_LIMIT_EXCEEDED");

test.each([
  ["the first one takes it", [ok({ request_id: "a" }), BUSY], "a", [1, 0]],
  ["the first one is busy", [BUSY, ok({ request_id: "b" })], "b", [1, 1]],
  [
    "the first one refuses the question",
    [refuse(400, "VALIDATION_ERROR"), ok({ request_id: "b" })],
    "VALIDATION_ERROR",
    [1, 0],
  ],
  ["both are busy", [BUSY, BUSY], "RATE_LIMIT_EXCEEDED RATE_LIMIT_EXCEEDED", [1, 1]],
])("of two accounts, %s", async (_what, behaviours, expected, sent) => {
  const servers = await Promise.all(behaviours.map((behaviour) => faultServer(() => behaviour)));
  const accounts = servers.map(({ url }) => {
    const client = new ResearchClient({ baseUrl: url, apiKey: "k" });
    const account = { client, origin: client.origin, apiKey: "k", profile: null };
    const ports = {
      ...account,
      clock: systemClock,
      history: undefined,
      unrecorded: true,
      outputField: "output",
    };
    return { ports, body: { prompt: "x" } };
  });
  const found = await submitToFirst(accounts, {}).then(
    ({ submitted }) => submitted.data.request_id,
    (error) =>
      error instanceof NoAccountError
        ? error.said.map((one) => Object(one.error).code).join(" ")
        : error.code,
  );
  expect(found).toBe(expected);
  expect(servers.map((server) => server.count("create"))).toEqual(sent);
});

test("what is asked of the first account holds: its signal, and its limit", async () => {
  const { url } = await faultServer(() => ok({ request_id: "a" }));
  const client = new ResearchClient({ baseUrl: url, apiKey: "k" });
  const history = new History(folderWith(), () => Date.now());
  const account = { client, origin: client.origin, apiKey: "k", profile: null };
  const ports = { ...account, clock: systemClock, history, unrecorded: true, outputField: "output" };
  const asked = [{ ports, body: { prompt: "x" }, limit: 1 }];
  const reason = new Error("enough");
  await expect(submitToFirst(asked, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await submitToFirst(asked, {});
  await expect(submitToFirst(asked, {})).rejects.toBeInstanceOf(QuotaExceededError);
});
