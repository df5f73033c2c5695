import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { untilAborted } from "../../../src/clock.js";
import { perplexity } from "../../../src/dialects/responses.js";
import type { Upstream } from "../../../src/server/researchers/upstream.js";
import { answer, type Behaviour, html } from "../../support/behaviours.js";
import { folderWith } from "../../support/folder.js";
import { type HappyOptions, HappyService, KEY } from "../../support/happy-service.js";
import { KEY as PROVIDER_KEY, ProviderDouble } from "../../support/providers/double.js";
import { upstreamService } from "../../support/upstream-service.js";
import { VirtualClock } from "../../support/virtual-clock.js";

const MINUTE = 60_000;
const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

let clock: VirtualClock;
let dataDir: string;
let fault: NonNullable<HappyOptions["fault"]>;
let own: Awaited<ReturnType<typeof upstreamService>>;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  clock = new VirtualClock(Date.now());
  dataDir = folderWith();
  fault = () => undefined;
});
afterEach(async () => {
  await own.service.close();
  for (const close of closing.splice(0)) await close();
});

async function there(output?: (prompt: string) => unknown) {
  const options: HappyOptions = { fault: (...asked) => fault(...asked) };
  const service = await HappyService.start(output ? { ...options, output } : options);
  closing.push(() => service.server.close());
  return service;
}

async function providerThere() {
  const double = await ProviderDouble.start("perplexity", {
    fault: (...asked) => fault(...asked),
  });
  closing.push(() => double.server.close());
  own = await upstreamService({
    ...{ url: double.url, apiKey: PROVIDER_KEY, dialect: perplexity("deep-research"), dataDir, clock },
  });
  return double;
}

const serveAt = async ({ url }: { url: string }) => {
  own = await upstreamService({ url, apiKey: KEY, dataDir, clock });
  return own;
};

const happens = async (probe: () => boolean) => {
  while (!probe()) await clock.sleep(250);
};

describe("what has COMPLETED there", () => {
  it.each([
    ["an ingress's 404 page", () => html(404)],
    [
      "a refusal",
      () => answer({ status: 400, body: '{"status":false,"error":{"code":"X","message":"no"}}' }),
    ],
    ["503 for an hour", () => html(503)],
  ])("is asked for until it is given, through %s", async (_, wrong) => {
    const double = await there();
    const end = clock.monotonic() + 60 * MINUTE;
    fault = (operation) => (operation === "output" && clock.monotonic() < end ? wrong() : undefined);
    await serveAt(double);
    const one = await own.create("why?");
    expect(await own.ended(one)).toMatchObject({ status: "COMPLETED", output: '"An answer to: why?"' });
    expect(clock.monotonic()).toBeGreaterThan(end);
    expect(double.server.count("create")).toBe(1);
  });

  it("is passed on if it does not fit the schema, which was paid for", async () => {
    await serveAt(await there(() => ({ n: "not a number" })));
    const one = await own.create("why?", SCHEMA);
    expect(await own.ended(one)).toMatchObject({ status: "COMPLETED", output: '{"n":"not a number"}' });
  });
});

describe("a stop", () => {
  const AWAY: [string, () => Behaviour][] = [
    ["503", () => html(503)],
    ["an ingress's 404 page", () => html(404)],
    [
      "an invalid key",
      () =>
        answer({ status: 401, body: '{"status":false,"error":{"code":"INVALID_API_KEY","message":"no"}}' }),
    ],
  ];
  it.each(AWAY)(
    "while that place answers %s for ten minutes, with a restart in between, is one there within 30 s of its return",
    async (_, wrong) => {
      const double = await there();
      await serveAt(double);
      const one = await own.create("why? => PENDING PROCESSING");
      await happens(() => double.server.count("status") > 1);
      fault = () => wrong();
      expect(await own.stop(one)).toMatchObject({ kind: "stopped" });
      await clock.sleep(5 * MINUTE);
      await own.service.close();
      await serveAt(double);
      await clock.sleep(5 * MINUTE);
      expect((await own.store.counts()).cancellations).toBe(1);
      fault = () => undefined;
      const back = clock.monotonic();
      await happens(() => [...double.conversations.values()][0]?.timeline.join() === "STOPPED");
      expect(clock.monotonic() - back).toBeLessThan(30_000);
      expect(double.server.count("create")).toBe(1);
    },
  );

  it("while that place takes requests and never answers is tried all the time, by itself and beside others", async () => {
    let isSilent = true;
    const stopped = new Set<string>();
    const upstream: Upstream = {
      ...{ at: "https://there.example", provider: "there", canStop: true },
      async create({ prompt }, _signal, onId) {
        onId(prompt);
        return { kind: "created" };
      },
      end: (_remoteId, signal) => untilAborted(new Promise(() => {}), signal),
      stop: (remoteId, signal) =>
        isSilent ? untilAborted(new Promise(() => {}), signal) : Promise.resolve(void stopped.add(remoteId)),
      close: async () => {},
    };
    own = await upstreamService({ upstream, dataDir, clock });
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => own.create(`remote-${n}`)));
    await clock.sleep(5_000);
    for (const id of ids) await own.stop(id);
    await clock.sleep(5 * MINUTE);
    const closing = clock.monotonic();
    await own.service.close();
    expect(clock.monotonic() - closing).toBeLessThan(20_000);
    own = await upstreamService({ upstream, dataDir, clock });
    await clock.sleep(5 * MINUTE);
    expect((await own.store.counts()).cancellations).toBe(20);
    isSilent = false;
    const back = clock.monotonic();
    await happens(() => stopped.size === 20);
    expect(clock.monotonic() - back).toBeLessThan(30_000);
    expect(own.log.join()).toContain("no answer within 15 s");
  });

  it("that a provider does not find is tried for a minute: it may not know yet what it has created", async () => {
    const double = await providerThere();
    const since = clock.monotonic();
    const lag = '{"error":{"message":"no such response","type":"not_found","code":null}}';
    fault = (operation) =>
      operation !== "create" && clock.monotonic() - since < 45_000
        ? answer({ status: 404, body: lag })
        : undefined;
    const one = await own.create("why? => queued in_progress");
    await happens(() => double.server.count("create") === 1);
    await clock.sleep(1_000);
    await own.stop(one);
    await happens(() => [...double.runs.values()][0]?.words.at(-1) === "cancelled");
    // What is gone for good is not asked about for ever.
    fault = (operation) => (operation === "create" ? undefined : answer({ status: 404, body: lag }));
    const two = await own.create("why? => queued in_progress");
    await happens(() => double.server.count("create") === 2);
    await clock.sleep(1_000);
    await own.stop(two);
    await clock.sleep(2 * MINUTE);
    expect((await own.store.counts()).cancellations).toBe(0);
  });

  it("that is refused is tried until nothing runs there any more", async () => {
    const double = await providerThere();
    const no = '{"error":{"message":"not now","type":"t","code":"not_now"}}';
    fault = (operation) => (operation === "stop" ? answer({ status: 400, body: no }) : undefined);
    const one = await own.create("why? => queued in_progress");
    await happens(() => double.server.count("status") > 0);
    await own.stop(one);
    await clock.sleep(2 * MINUTE);
    expect((await own.store.counts()).cancellations).toBe(1);
    const [run] = [...double.runs.values()];
    if (run) run.words = ["completed"];
    await clock.sleep(MINUTE);
    expect((await own.store.counts()).cancellations).toBe(0);
  });
});

it("all waits share one schedule: never more polls a second than the service takes, and none is starved", async () => {
  const polls: number[] = [];
  const byId = new Map<string, number>();
  fault = (operation, _nth, { path }) => {
    if (operation !== "status") return undefined;
    polls.push(clock.monotonic());
    byId.set(path, (byId.get(path) ?? 0) + 1);
    return undefined;
  };
  const double = await there();
  await serveAt(double);
  const states = Array(60).fill("PROCESSING").join(" ");
  for (let n = 0; n < 120; n++) await own.create(`${n} => ${states}`);
  await happens(() => double.conversations.size === 120);
  await clock.sleep(20_000);
  for (const [n, at] of polls.entries()) expect(at - (polls[n - 50] ?? -1_000)).toBeGreaterThanOrEqual(999);
  expect(polls.length).toBeGreaterThan(500);
  expect(byId.size).toBe(120);
  const counts = [...byId.values()];
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(10);
  expect(double.server.count("create")).toBe(120);
});
