import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { findProvider } from "../../../src/client/dialects/providers.js";
import { History } from "../../../src/client/store/history/history.js";
import type { Account } from "../../../src/client/workflows/account.js";
import { submitWithFallback } from "../../../src/client/workflows/account-fallback.js";
import { NotRecordedError } from "../../../src/client/workflows/errors.js";
import { submitRequest } from "../../../src/client/workflows/submit-request.js";
import { systemClock } from "../../../src/core/clock.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { answer, type Behaviour, envelope, ok, refuse, reset } from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";
import { KEY } from "../../support/happy-service.js";

const BODY = { prompt: "x" };

type Script = Behaviour | ((operation: string) => Behaviour);

/** A machine whose service answers so. */
async function openAccount(
  behaviour: Script,
  own: Partial<Account> = {},
  state = join(folderWith(), "state"),
) {
  const server = await faultServer((operation) =>
    typeof behaviour === "function" ? behaviour(operation) : behaviour,
  );
  const provider = findProvider(own.provider?.name ?? "");
  const dialect = provider && { dialect: () => provider.load("m") };
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY, ...dialect });
  const history = new History(state, () => Date.now());
  const { origin } = client;
  const account: Account = {
    outputField: "output",
    ...{ client, history, clock: systemClock, origin, apiKey: KEY, profile: null, unrecorded: false },
    ...own,
  };
  return { server, history, origin, account };
}

/** One create that is answered so: its error, and what the history holds afterwards. */
async function submitted(
  behaviour: Script,
  options: Parameters<typeof submitRequest>[2] = {},
  own: Partial<Account> = {},
) {
  const { server, history, origin, account } = await openAccount(behaviour, own);
  const code = await submitRequest(account, BODY, options).then(
    () => undefined,
    (error) => error.code ?? error.message,
  );
  const [entry] = history.list({ limit: 1 });
  const [unsettled] = history.findSame({ origin, apiKey: KEY, body: BODY }, 0).unsettled;
  return {
    ...{ code, status: entry?.status, id: entry?.request_id, sent: server.count("create") },
    counted: history.countHour({ origin, apiKey: KEY }, 1).attempts.length,
    sender: unsettled && unsettled.sender !== undefined,
  };
}

const PER_DAY = { value: 1, source: "--per-day" };
const WITH_ID = answer({ status: 500, body: envelope({ request_id: "a", status: "PENDING" }) });

const WITH_ID_AND_STATE = (operation: string) =>
  operation === "create" ? WITH_ID : ok({ status: "PROCESSING" });

test.each<[string, Script, object]>([
  [
    "answered with an error in which an id stands that the service knows",
    WITH_ID_AND_STATE,
    { status: "PROCESSING", counted: 1 },
  ],
  [
    "answered with an error in which an id stands, that is not confirmed",
    (operation) => (operation === "create" ? WITH_ID : refuse(403, "FORBIDDEN")),
    { code: "OUTCOME_UNKNOWN", status: "UNKNOWN", id: "a" },
  ],
  [
    "made: it is in the history",
    ok({ request_id: "a", status: "PENDING" }),
    { status: "PENDING", counted: 1 },
  ],
  ["refused: it counts", refuse(400, "VALIDATION_ERROR"), { code: "VALIDATION_ERROR", counted: 1 }],
  [
    "refused for its rate: it does not count",
    refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 5 }),
    { counted: 0 },
  ],
  [
    "lost: it is an unknown outcome that no process waits for",
    reset(),
    { code: "OUTCOME_UNKNOWN", status: "UNKNOWN", counted: 1, sender: false },
  ],
])("a create that is %s", async (_, behaviour, expected) => {
  const outcome = await submitted(behaviour);
  expect(outcome).toMatchObject({ sent: 1, ...expected });
  if (!("status" in expected)) expect(outcome.status).toBeUndefined();
});

test("what the caller throws once the intent is recorded keeps it from being sent, and nothing is left", async () => {
  const onIntent = () => {
    throw new Error("not now");
  };
  const outcome = await submitted(ok({ request_id: "a" }), { onIntent });
  expect(outcome).toMatchObject({ code: "not now", sent: 0, counted: 0, status: undefined });
});

test("one that is aborted before it is sent leaves nothing", async () => {
  const outcome = await submitted(ok({ request_id: "a" }), {
    signal: AbortSignal.abort(new Error("enough")),
  });
  expect(outcome).toMatchObject({ code: "enough", sent: 0, counted: 0, status: undefined });
});

test.each<[string, Partial<Account>, Script, string | undefined, number]>([
  ["is sent if nothing is to be kept", { unrecorded: true }, WITH_ID_AND_STATE, undefined, 1],
  ["may be refused", { unrecorded: true }, refuse(400, "VALIDATION_ERROR"), "VALIDATION_ERROR", 1],
  ["may be lost", { unrecorded: true }, reset(), "OUTCOME_UNKNOWN", 1],
  ["is not sent if it is to be kept", {}, reset(), "the request was not sent: no folder to record it in", 0],
  ["is not sent under a limit of the day", { unrecorded: true, perDay: PER_DAY }, reset(), "NOT_ALLOWED", 0],
])("a create without a history %s", async (_, own, behaviour, code, sent) => {
  const intents: unknown[] = [];
  const onIntent = (localId: string | undefined) => void intents.push(localId);
  const outcome = await submitted(behaviour, { onIntent }, { history: undefined, ...own });
  expect(outcome).toMatchObject({ code, sent });
  expect(intents).toEqual(sent === 1 ? [undefined] : []);
});

test("a create that cannot be recorded is not sent", async () => {
  const { account, server } = await openAccount(reset(), {}, "/dev/null/state");
  await expect(submitRequest(account, BODY)).rejects.toThrow(NotRecordedError);
  await expect(submitRequest(account, BODY)).rejects.toThrow(
    /^the request was not sent: .*\/dev\/null\/state/,
  );
  expect(server.count()).toBe(0);
});

test("an unforeseen error is an unknown outcome, also where the caller has given up", async () => {
  const client = { check: async () => {}, create: () => Promise.reject(new TypeError("odd")) };
  const given = { client: client as unknown as Account["client"] };
  const outcome = await submitted(reset(), { signal: AbortSignal.abort() }, given);
  expect(outcome).toMatchObject({ code: "odd", status: "UNKNOWN", counted: 1, sender: false });
});

test("a tier that has no limit counts nothing before a create is sent", async () => {
  const { history, account } = await openAccount(ok({ request_id: "a" }));
  history.reserve = () => Promise.reject(new Error("counted"));
  const submitted = submitRequest(account, BODY, { limit: Number.POSITIVE_INFINITY });
  await expect(submitted).resolves.toMatchObject({ data: { request_id: "a" } });
});

test("a limit that is used up is an error with its number, that of the day with whose it is", async () => {
  const { account } = await openAccount(ok({ request_id: "a" }), { perDay: PER_DAY });
  await submitRequest(account, BODY);
  const day = { source: "--per-day", origin: account.origin, profile: null };
  await expect(submitRequest(account, BODY, { limit: 9 })).rejects.toMatchObject({ limit: 1, day });
  const perDay = { ...PER_DAY, value: 9 };
  const ofHour = { limit: 1, day: undefined };
  await expect(submitRequest({ ...account, perDay }, BODY, { limit: 1 })).rejects.toMatchObject(ofHour);
});

test.each([
  ["of which the default model has ended says so", "model_not_found", {}, /^gpt.* is this version's default/],
  ["that names its model is as it is", "model_not_found", { model: "m" }, undefined],
  ["that is refused otherwise is as it is", "invalid_value", {}, undefined],
])("at a provider a create %s", async (_, code, asked, hint) => {
  const refusal = answer({ status: 400, body: JSON.stringify({ error: { message: "no", code } }) });
  const provider = findProvider("openai");
  const { account, server } = await openAccount(refusal, { provider });
  const error = await submitRequest(account, { ...BODY, ...asked }).catch((error) => error);
  expect(error).toMatchObject({ code, hint: hint ? expect.stringMatching(hint) : undefined });
  const [sent] = server.of("create");
  expect(JSON.parse(`${sent?.body}`).model).toBe(Object(asked).model ?? provider?.defaultModel);
});

test.each([
  ["the interface", undefined, 3_000],
  ["a provider", "openai", 60],
])("a 429 without a time is waited out for as long as %s counts", async (_, name, seconds) => {
  const now = Date.now();
  const clock = { ...systemClock, now: () => now, sleep: () => Promise.reject(new Error("slept")) };
  const provider = findProvider(name ?? "");
  const { account, history, origin } = await openAccount(refuse(429, "RATE_LIMITED"), { clock, provider });
  const before = new History(history.folder, () => now - 600_000);
  before.begin({ origin, apiKey: KEY, body: BODY, profile: null }).recordCreated("old", {});
  const onWait = (until: number) => Promise.reject(new Error(`${(until - now) / 1_000} s`));
  const waiting = submitWithFallback([{ account, body: BODY }], { waitForQuota: true, onWait });
  await expect(waiting).rejects.toThrow(`${seconds} s`);
  await expect(submitWithFallback([{ account, body: BODY }], { waitForQuota: true })).rejects.toThrow(
    "slept",
  );
  await expect(submitWithFallback([{ account, body: BODY }], {})).rejects.toMatchObject({
    code: "RATE_LIMITED",
  });
});

test("an id that cannot be recorded is given all the same, with why", async () => {
  const state = join(folderWith(), "state");
  const onIntent = () => {
    rmSync(join(state, "open"), { recursive: true });
    mkdirSync(join(state, "history.jsonl"));
  };
  const { account } = await openAccount(ok({ request_id: "a" }), {}, state);
  const { data, notSaved } = await submitRequest(account, BODY, { onIntent });
  expect([data.request_id, notSaved]).toEqual(["a", expect.any(LocalError)]);
});
