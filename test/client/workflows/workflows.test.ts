import { join } from "node:path";
import { expect, test } from "vitest";
import { ResearchClient } from "../../../src/client/calls/client.js";
import type { NoOutputError } from "../../../src/client/calls/errors.js";
import { History } from "../../../src/client/store/history/history.js";
import { QuotaExceededError } from "../../../src/client/workflows/errors.js";
import { submitToFirst } from "../../../src/client/workflows/first-account.js";
import { type FollowEvent, follow, WatchProgress } from "../../../src/client/workflows/follow.js";
import type { Ports } from "../../../src/client/workflows/ports.js";
import {
  askStates,
  requireEntry,
  resolveTarget,
  stopAll,
  type Target,
} from "../../../src/client/workflows/requests.js";
import { fetchResult, whyNoResult } from "../../../src/client/workflows/results.js";
import { submit } from "../../../src/client/workflows/submit.js";
import { systemClock } from "../../../src/ground/clock.js";
import type { CreateBody } from "../../../src/ground/protocol/conversation.js";
import { hang, ok, only } from "../../support/behaviours.js";
import { folderWith } from "../../support/folder.js";
import { gate } from "../../support/gate.js";
import { type HappyOptions, HappyService, KEY } from "../../support/happy-service.js";
import { until } from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";

// The work on requests as another front end would use it: no terminal, no arguments, no exit code.

const FAST = { interval: 5 };

async function machine(options: HappyOptions = {}, own: Partial<Ports> = {}) {
  const service = await HappyService.start(options);
  const client = new ResearchClient({ baseUrl: service.url, apiKey: KEY });
  const history = new History(join(folderWith(), "state"), () => Date.now());
  const ports: Ports = {
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
  return { service, ports, history };
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const body: CreateBody = { prompt: "How do tides form? => PENDING PROCESSING COMPLETED" };

test("submits, follows and fetches; the history knows each step", async () => {
  const { ports, history } = await machine();
  const intents: (string | undefined)[] = [];
  const { data, localId, notSaved } = await submit(ports, body, {
    onIntent: (id) => {
      intents.push(id);
      expect(history.list({ limit: 1 })).toMatchObject([{ local_id: id, status: "UNKNOWN" }]);
    },
  });
  expect(intents).toEqual([localId]);
  expect(notSaved).toBeUndefined();

  const target = resolveTarget(ports, data.request_id.slice(0, 8));
  const progress = new WatchProgress([target.requestId]);
  const states: string[] = [];
  for await (const event of follow(ports, [target, target], FAST)) {
    progress.apply(event);
    if (event.kind === "state") states.push(event.status);
  }
  expect(states).toEqual(["PENDING", "PROCESSING", "COMPLETED"]);
  expect(progress.outcomes).toEqual([{ requestId: data.request_id, status: "COMPLETED", kind: "final" }]);
  expect(progress.running).toEqual([]);
  expect(requireEntry(ports, "@last")).toMatchObject({ request_id: data.request_id, status: "COMPLETED" });

  const result = await fetchResult(ports, target);
  expect(result).toMatchObject({ value: `An answer to: ${body.prompt}`, data: { status: "COMPLETED" } });
});

test("follows requests that come while it runs, each once, and ends when no more come", async () => {
  const { ports, service } = await machine();
  const [a = "", b = ""] = ["a => PROCESSING COMPLETED", "b => FAILED"].map((prompt) => service.add(prompt));
  const target = (requestId: string): Target => ({ requestId, entry: undefined });
  const { opened: first, open: moveOn } = gate();
  async function* source() {
    yield target(a);
    await first;
    yield target(a);
    yield target(b);
  }
  const seen: string[] = [];
  for await (const event of follow(ports, source(), FAST)) {
    if (event.kind !== "state") continue;
    seen.push(`${event.requestId === a ? "a" : "b"} ${event.status}`);
    moveOn();
  }
  expect(seen.filter((line) => line.startsWith("a"))).toEqual(["a PROCESSING", "a COMPLETED"]);
  expect(seen.filter((line) => line.startsWith("b"))).toEqual(["b FAILED"]);
});

test("a follow ends with the reason of its signal, and the ports serve the next call", async () => {
  const { ports, service } = await machine();
  const target = { requestId: service.add("x => PROCESSING"), entry: undefined };
  const controller = new AbortController();
  const reason = new Error("enough");
  const watching = (async () => {
    for await (const event of follow(ports, [target], { ...FAST, signal: controller.signal }))
      if (event.kind === "state") controller.abort(reason);
  })();
  await expect(watching).rejects.toBe(reason);
  expect(await askStates(ports, [target])).toMatchObject([
    { kind: "answered", data: { status: "PROCESSING" } },
  ]);
});

test("what cannot be kept of a state is an event, and ends nothing", async () => {
  const broken = await machine();
  const { data } = await submit(broken.ports, body);
  const entry = requireEntry(broken.ports, data.request_id);
  const history = new History("/dev/null/nowhere", () => Date.now());
  const ports = { client: broken.ports.client, origin: broken.ports.origin, history };
  const events = await all(follow(ports, [{ requestId: data.request_id, entry }], FAST));
  const kinds = (kind: FollowEvent["kind"]) => events.filter((event) => event.kind === kind);
  expect(kinds("not-observed")).toMatchObject([
    { requestId: data.request_id, error: { name: "LocalError" } },
    { requestId: data.request_id },
  ]);
  expect(kinds("state").at(-1)).toMatchObject({ status: "COMPLETED", final: true });
});

test("the hour's limit stops a create before it is sent, or has it waited for", async () => {
  const { ports, service } = await machine();
  await submit(ports, body, { limit: 1 });
  expect(ports.history?.hour(ports, 1).attempts).toHaveLength(1);
  const error = await submitToFirst([{ ports, body, limit: 1 }], {}).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(QuotaExceededError);
  expect((error as QuotaExceededError).retryAfter).toBeGreaterThan(3_500);
  expect(service.server.count("create")).toBe(1);

  const controller = new AbortController();
  const reason = new Error("enough");
  const waits: number[] = [];
  const waiting = submitToFirst([{ ports, body, limit: 1 }], {
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
  const { ports, service } = await machine();
  const targets = ["a => PROCESSING", "b => COMPLETED", "c => PENDING"].map((prompt) => ({
    requestId: service.add(prompt),
    entry: undefined,
  }));
  const answers = await all(stopAll(ports, targets));
  expect(answers.map((answer) => (answer.kind === "answered" ? answer.data.status : "failed"))).toEqual([
    "STOPPED",
    "failed",
    "STOPPED",
  ]);
});

test("a stop that is answered without STOPPED is no success", async () => {
  const fault: HappyOptions["fault"] = only("stop", ok({ status: "PROCESSING" }));
  const { ports, service } = await machine({ fault }, { clock: new VirtualClock() });
  const target = { requestId: service.add("a => PROCESSING"), entry: undefined };
  expect(await all(stopAll(ports, [target]))).toMatchObject([
    { kind: "failed", error: { code: "BAD_RESPONSE", requestId: target.requestId } },
  ]);
  service.conversations.get(target.requestId)?.timeline.splice(0, 1, "STOPPED");
  expect(await all(stopAll(ports, [target]))).toMatchObject([
    { kind: "answered", data: { status: "STOPPED" } },
  ]);
});

test("a stop that is aborted while it is asked for is not waited for", async () => {
  for (const faulty of ["stop", "status"] as const) {
    const answers = { stop: ok({ status: "PROCESSING" }), [faulty]: hang() };
    const fault: HappyOptions["fault"] = (operation) => Object(answers)[operation];
    const { ports, service } = await machine({ fault });
    const target = { requestId: service.add("a => PROCESSING"), entry: undefined };
    const [ending, reason] = [new AbortController(), new Error("enough")];
    const stopped = all(stopAll(ports, [target], { signal: ending.signal }));
    void until(async () => service.server.count(faulty) > 0 || undefined).then(() => ending.abort(reason));
    await expect(stopped).rejects.toBe(reason);
  }
});

test("why there is no result is said in the service's words, if it has any", async () => {
  const { ports, service, history } = await machine();
  const { data } = await submit(ports, { prompt: "x => FAILED" });
  const failed = data.request_id;
  const why = await whyNoResult(ports, failed, "FAILED");
  expect(why).toMatchObject({ code: "RESEARCH_FAILED", status: "FAILED" });
  expect(history.find(failed)).toMatchObject([
    { status: "FAILED", message: (why as NoOutputError).refusal.message },
  ]);
  expect(await whyNoResult(ports, "nobody-knows", "FAILED")).toMatchObject({ code: "RESEARCH_FAILED" });
  const asked = service.server.count("output");
  expect(await whyNoResult(ports, failed, "STOPPED")).toMatchObject({
    ...{ code: "RESEARCH_STOPPED", message: `${failed} ended STOPPED, so it has no output` },
  });
  expect(service.server.count("output")).toBe(asked);
  const stopped = service.add("x => STOPPED");
  expect(await whyNoResult(ports, stopped, "FAILED")).toMatchObject({ code: "RESEARCH_FAILED" });
});
