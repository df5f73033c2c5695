import { join } from "node:path";
import { expect, test } from "vitest";
import type { NoOutputError } from "../../../src/client/calls/errors.js";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { History } from "../../../src/client/store/history/history.js";
import type { Account } from "../../../src/client/workflows/account.js";
import { submitWithFallback } from "../../../src/client/workflows/account-fallback.js";
import { QuotaExceededError } from "../../../src/client/workflows/errors.js";
import {
  checkResultSchema,
  explainNoResult,
  fetchResult,
} from "../../../src/client/workflows/fetch-results.js";
import {
  fetchStates,
  findTarget,
  requireEntry,
  stopRequests,
  type Target,
} from "../../../src/client/workflows/find-and-query-requests.js";
import {
  type FollowEvent,
  followAtAccount,
  followRequests,
  WatchProgress,
} from "../../../src/client/workflows/follow-requests.js";
import { submitRequest } from "../../../src/client/workflows/submit-request.js";
import { systemClock } from "../../../src/core/clock.js";
import { stringifyExact } from "../../../src/core/json/exact-json.js";
import type { CreateBody } from "../../../src/core/protocol/conversation.js";
import { hang, ok, only } from "../../support/behaviours.js";
import { folderWith } from "../../support/folder.js";
import { gate } from "../../support/gate.js";
import { type HappyOptions, HappyService, KEY } from "../../support/happy-service.js";
import { until } from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";

// The work on requests as another front end would use it: no terminal, no arguments, no exit code.

const FAST = { interval: 5 };

async function openAccount(options: HappyOptions = {}, own: Partial<Account> = {}) {
  const service = await HappyService.start(options);
  const client = new ResearchClient({ baseUrl: service.url, apiKey: KEY });
  const history = new History(join(folderWith(), "state"), () => Date.now());
  const account: Account = {
    client,
    origin: client.origin,
    apiKey: KEY,
    profile: null,
    history,
    unrecorded: false,
    outputField: "output",
    clock: systemClock,
    ...own,
  };
  return { service, account, history };
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const body: CreateBody = { prompt: "How do tides form? => PENDING PROCESSING COMPLETED" };

test("submits, follows and fetches; the history knows each step", async () => {
  const { account, history } = await openAccount();
  const intents: (string | undefined)[] = [];
  const { data, localId, notSaved } = await submitRequest(account, body, {
    onIntent: (id) => {
      intents.push(id);
      expect(history.list({ limit: 1 })).toMatchObject([{ local_id: id, status: "UNKNOWN" }]);
    },
  });
  expect(intents).toEqual([localId]);
  expect(notSaved).toBeUndefined();

  const target = findTarget(account, data.request_id.slice(0, 8));
  const progress = new WatchProgress([target.requestId]);
  const states: string[] = [];
  for await (const event of followRequests([target, target], FAST)) {
    progress.apply(event);
    if (event.kind === "state") states.push(event.status);
  }
  expect(states).toEqual(["PENDING", "PROCESSING", "COMPLETED"]);
  expect(progress.outcomes).toEqual([{ requestId: data.request_id, status: "COMPLETED", kind: "final" }]);
  expect(progress.running).toEqual([]);
  expect(requireEntry(account, "@last")).toMatchObject({ request_id: data.request_id, status: "COMPLETED" });

  const result = await fetchResult(target);
  expect(result).toMatchObject({ value: `An answer to: ${body.prompt}`, data: { status: "COMPLETED" } });
});

test("follows requests that come while it runs, each once, and ends when no more come", async () => {
  const { account, service } = await openAccount();
  const [a = "", b = ""] = ["a => PROCESSING COMPLETED", "b => FAILED"].map((prompt) => service.add(prompt));
  const target = (requestId: string): Target => ({ requestId, entry: undefined, account });
  const { opened: first, open: moveOn } = gate();
  async function* source() {
    yield target(a);
    await first;
    yield target(a);
    yield target(b);
  }
  const seen: string[] = [];
  for await (const event of followAtAccount(account, source(), FAST)) {
    if (event.kind !== "state") continue;
    seen.push(`${event.requestId === a ? "a" : "b"} ${event.status}`);
    moveOn();
  }
  expect(seen.filter((line) => line.startsWith("a"))).toEqual(["a PROCESSING", "a COMPLETED"]);
  expect(seen.filter((line) => line.startsWith("b"))).toEqual(["b FAILED"]);
});

test("a follow ends with the reason of its signal, and the account serve the next call", async () => {
  const { account, service } = await openAccount();
  const target = { requestId: service.add("x => PROCESSING"), entry: undefined, account };
  const controller = new AbortController();
  const reason = new Error("enough");
  const watching = (async () => {
    for await (const event of followRequests([target], { ...FAST, signal: controller.signal }))
      if (event.kind === "state") controller.abort(reason);
  })();
  await expect(watching).rejects.toBe(reason);
  const unknown = { requestId: "not-there", entry: undefined, account };
  expect(await fetchStates([target, unknown])).toMatchObject([
    { kind: "answered", data: { status: "PROCESSING" } },
    { kind: "failed", target: unknown, error: { kind: "not-found" } },
  ]);
});

test("requests of two accounts are followed at once, each at its own, until they are left", async () => {
  const [one, two] = [await openAccount(), await openAccount()];
  const at = (prompt: string): Target[] => [
    { requestId: one.service.add(prompt), entry: undefined, account: one.account },
    { requestId: two.service.add(prompt), entry: undefined, account: two.account },
  ];
  const seen = async (targets: readonly Target[]) =>
    (await all(followRequests(targets, FAST))).map((event) => Object(event).status ?? event.kind);
  expect(await seen(at("a => FAILED"))).toEqual(["FAILED", "FAILED"]);
  expect(await seen(at("b => STOPPED").slice(1))).toEqual(["STOPPED"]);
  const endless = at("c => PROCESSING");
  for await (const _ of followRequests(endless, FAST)) break;
  const [ending, reason] = [new AbortController(), new Error("enough")];
  const watching = async () => {
    for await (const _ of followRequests(endless, { ...FAST, signal: ending.signal })) ending.abort(reason);
  };
  await expect(watching()).rejects.toBe(reason);
});

test("what cannot be kept of a state is an event, and ends nothing", async () => {
  const broken = await openAccount();
  const { data } = await submitRequest(broken.account, body);
  const entry = requireEntry(broken.account, data.request_id);
  const history = new History("/dev/null/nowhere", () => Date.now());
  const account = { ...broken.account, history };
  const events = await all(followRequests([{ requestId: data.request_id, entry, account }], FAST));
  const kinds = (kind: FollowEvent["kind"]) => events.filter((event) => event.kind === kind);
  expect(kinds("not-observed")).toMatchObject([
    { requestId: data.request_id, error: { name: "LocalError" } },
    { requestId: data.request_id },
  ]);
  expect(kinds("state").at(-1)).toMatchObject({ status: "COMPLETED", final: true });
});

test("the hour's limit stops a create before it is sent, or has it waited for", async () => {
  const { account, service } = await openAccount();
  await submitRequest(account, body, { limit: 1 });
  expect(account.history?.countHour(account, 1).attempts).toHaveLength(1);
  const error = await submitWithFallback([{ account, body, limit: 1 }], {}).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(QuotaExceededError);
  expect((error as QuotaExceededError).retryAfter).toBeGreaterThan(3_500);
  expect(service.server.count("create")).toBe(1);

  const controller = new AbortController();
  const reason = new Error("enough");
  const waits: number[] = [];
  const waiting = submitWithFallback([{ account, body, limit: 1 }], {
    waitForQuota: true,
    signal: controller.signal,
    onWait: (until) => {
      waits.push(until);
      controller.abort(reason);
    },
  });
  await expect(waiting).rejects.toBe(reason);
  expect(waits).toHaveLength(1);
  expect(service.server.count("create")).toBe(1);
});

test("stops all requests that it can, and says of each what became of it", async () => {
  const { account, service, history } = await openAccount();
  const { data } = await submitRequest(account, { prompt: "d => COMPLETED" });
  const recorded = findTarget(account, data.request_id);
  const targets: Target[] = ["a => PROCESSING", "b => COMPLETED", "c => PENDING"].map((prompt) => ({
    requestId: service.add(prompt),
    ...{ entry: undefined, account },
  }));
  const answers = await all(stopRequests([...targets, recorded]));
  expect(answers.map((answer) => (answer.kind === "answered" ? answer.data.status : "failed"))).toEqual([
    "STOPPED",
    "failed",
    "STOPPED",
    "failed",
  ]);
  expect(history.find(data.request_id)).toMatchObject([{ status: "COMPLETED" }]);
});

test("a stop that is answered without STOPPED is no success", async () => {
  const fault: HappyOptions["fault"] = only("stop", ok({ status: "PROCESSING" }));
  const { account, service } = await openAccount({ fault }, { clock: new VirtualClock() });
  const target = { requestId: service.add("a => PROCESSING"), entry: undefined, account };
  expect(await all(stopRequests([target]))).toMatchObject([
    { kind: "failed", error: { code: "BAD_RESPONSE", requestId: target.requestId } },
  ]);
  const running = ok({ status: "PROCESSING", provider_status: "stopping" });
  const provider = await openAccount({ fault: () => running }, { clock: new VirtualClock() });
  const message = `the service accepted the stop, but ${target.requestId} is PROCESSING`;
  expect(await all(stopRequests([{ ...target, account: provider.account }]))).toMatchObject([
    { kind: "failed", error: { code: "NOT_FINISHED", message } },
  ]);
  service.conversations.get(target.requestId)?.timeline.splice(0, 1, "STOPPED");
  expect(await all(stopRequests([target]))).toMatchObject([
    { kind: "answered", data: { status: "STOPPED" } },
  ]);
});

test("a stop that is aborted while it is asked for is not waited for", async () => {
  for (const faulty of ["stop", "status"] as const) {
    const answers = { stop: ok({ status: "PROCESSING" }), [faulty]: hang() };
    const fault: HappyOptions["fault"] = (operation) => Object(answers)[operation];
    const { account, service } = await openAccount({ fault });
    const target = { requestId: service.add("a => PROCESSING"), entry: undefined, account };
    const [ending, reason] = [new AbortController(), new Error("enough")];
    const stopped = all(stopRequests([target], { signal: ending.signal }));
    void until(async () => service.server.count(faulty) > 0 || undefined).then(() => ending.abort(reason));
    await expect(stopped).rejects.toBe(reason);
  }
});

test("why there is no result is said in the service's words, if it has any", async () => {
  const { account, service, history } = await openAccount();
  const { data } = await submitRequest(account, { prompt: "x => FAILED" });
  const failed = data.request_id;
  const target = (requestId: string) => findTarget(account, requestId);
  const why = await explainNoResult(target(failed), "FAILED");
  expect(why).toMatchObject({ code: "RESEARCH_FAILED", status: "FAILED" });
  expect(history.find(failed)).toMatchObject([
    { status: "FAILED", message: (why as NoOutputError).refusal.message },
  ]);
  expect(await explainNoResult(target("nobody-knows"), "FAILED")).toMatchObject({
    code: "RESEARCH_FAILED",
  });
  const asked = service.server.count("output");
  expect(await explainNoResult(target(failed), "STOPPED")).toMatchObject({
    ...{ code: "RESEARCH_STOPPED", message: `${failed} ended STOPPED, so it has no output` },
    requestId: failed,
  });
  expect(service.server.count("output")).toBe(asked);
  const { data: stopped } = await submitRequest(account, { prompt: "x => STOPPED" });
  const other = await explainNoResult(target(stopped.request_id), "FAILED");
  expect(other).toMatchObject({ code: "RESEARCH_FAILED" });
  expect(history.find(stopped.request_id)).toMatchObject([{ status: "PENDING" }]);
});

test("a result that is kept is not asked for, and one that was cut short is given as a part only", async () => {
  const { account, service, history } = await openAccount();
  const kept = { provider_status: "incomplete", output: '{"a":1.0}' };
  for (const status of ["COMPLETED", "FAILED"])
    history.results.keep(account.origin, status, JSON.stringify({ ...kept, status }));
  const [whole, cut] = ["COMPLETED", "FAILED"].map((requestId) => ({ requestId, entry: undefined, account }));
  if (!whole || !cut) expect.fail();
  expect(await fetchResult(whole)).toMatchObject({ value: kept.output });
  const { value, exact } = await fetchResult(whole, { schema: {} });
  expect([value, stringifyExact(exact)]).toEqual([{ a: 1 }, '{"a":1.0}']);
  await expect(fetchResult(cut)).rejects.toMatchObject({ code: "RESEARCH_FAILED" });
  expect(await fetchResult(cut, { partial: true })).toMatchObject({ value: kept.output });
  expect(service.server.count()).toBe(0);
});

test.each([
  ["in the history", true, true],
  ["made elsewhere", { origin: "https://b.example" }, false],
  ["in no history", false, false],
])("a provider's result that was fetched is kept for a request that is %s", async (_, made, isKept) => {
  const data = { status: "COMPLETED", provider_status: "completed", output: "x" };
  const { account, history } = await openAccount({ fault: only("output", ok(data)) });
  const { data: created } = await submitRequest(account, body);
  const { requestId, entry } = findTarget(account, created.request_id);
  const target = { requestId, account, entry: made && entry ? { ...entry, ...Object(made) } : undefined };
  expect(await fetchResult(target)).toMatchObject({ value: "x" });
  expect(history.results.read(account.origin, requestId) !== undefined).toBe(isKept);
});

test("why there is no result is kept when it is asked for, and a result that is late is an error", async () => {
  const { account, history, service } = await openAccount();
  const { data } = await submitRequest(account, { prompt: "x => FAILED" });
  const target = findTarget(account, data.request_id);
  await expect(fetchResult(target)).rejects.toMatchObject({ code: "RESEARCH_FAILED" });
  expect(history.find(data.request_id)).toMatchObject([{ status: "FAILED", message: expect.any(String) }]);
  // Only a provider's recorded end is not asked for again.
  await expect(fetchResult(target)).rejects.toMatchObject({ code: "RESEARCH_FAILED" });
  expect(service.server.count("output")).toBe(2);

  const clock = new VirtualClock();
  const output = (_: string, { signal }: { signal: AbortSignal }) => clock.sleep(3_600_000, signal);
  const slow = { ...account, clock, client: { output } as unknown as Account["client"] };
  const asked = { requestId: "slow-1", entry: undefined, account: slow };
  const started = clock.monotonic();
  await expect(fetchResult(asked, { end: started + 5_000 })).rejects.toMatchObject({
    ...{ code: "TIMEOUT", message: "the result of slow-1 was not read in time", requestId: "slow-1" },
  });
  expect(clock.monotonic() - started).toBe(5_000);
  await expect(fetchResult(asked, { end: started })).rejects.toThrow("not read in time");
  expect(clock.monotonic() - started).toBe(7_000);
});

test("a result is checked against its schema in its own digits", async () => {
  expect(
    await checkResultSchema({ exact: { a: 1 } }, { properties: { a: { type: "string" } } }),
  ).toMatchObject({
    path: "/a",
  });
  expect(await checkResultSchema({ exact: { a: 1 } }, {})).toBeUndefined();
});
