import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPerplexityDialect } from "../../src/client/dialects/perplexity.js";
import { waitUnlessAborted } from "../../src/core/clock.js";
import type { Upstream } from "../../src/researchers/upstream-researcher.js";
import { StoreUnavailableError } from "../../src/server/conversations/conversation-store.js";
import { answer, type Behaviour, close, html, only, redirect, refuse } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { gate } from "../support/gate.js";
import { type HappyOptions, HappyService, KEY } from "../support/happy-service.js";
import { KEY as PROVIDER_KEY, ProviderDouble } from "../support/providers/double.js";
import { upstreamService } from "../support/upstream-service.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { ask, post } from "../support/wire.js";

const MINUTE = 60_000;
const OWN_KEY = "test-key-0123456789";
const OPERATOR = { keyId: "k", limits: { create: Infinity, stop: Infinity }, ownOnly: false };
const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

let clock: VirtualClock;
let dataDir: string;
let fault: NonNullable<HappyOptions["fault"]>;
let local: Awaited<ReturnType<typeof upstreamService>>;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  clock = new VirtualClock(Date.now());
  dataDir = folderWith();
  fault = () => undefined;
});
afterEach(async () => {
  await local.service.close();
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
  local = await upstreamService({
    ...{
      url: double.url,
      apiKey: PROVIDER_KEY,
      dialect: createPerplexityDialect("deep-research"),
      dataDir,
      clock,
    },
  });
  return double;
}

const serveAt = async ({ url }: { url: string }) => {
  local = await upstreamService({ url, apiKey: KEY, dataDir, clock });
  return local;
};

const happens = async (probe: () => boolean) => {
  while (!probe()) await clock.sleep(250);
};

describe("what has COMPLETED there", () => {
  it.each([
    ["an ingress's 404 page", () => html(404)],
    ["a refusal", () => refuse(400, "X")],
    ["503 for ten minutes", () => html(503)],
  ])("is asked for until it is given, through %s", async (_, wrong) => {
    const double = await there();
    const end = clock.monotonic() + 10 * MINUTE;
    fault = (operation) => (operation === "output" && clock.monotonic() < end ? wrong() : undefined);
    await serveAt(double);
    const id = await local.create("why?");
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED", output: '"An answer to: why?"' });
    expect(clock.monotonic()).toBeGreaterThan(end);
    expect(double.server.count("create")).toBe(1);
  });

  it("is passed on if it does not fit the schema, which was paid for", async () => {
    await serveAt(await there(() => ({ n: "not a number" })));
    const id = await local.create("why?", SCHEMA);
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED", output: '{"n":"not a number"}' });
  });

  it("is the value that was asked for, where a provider does not repeat that it was", async () => {
    await providerThere();
    const id = await local.create("why?", SCHEMA);
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED", output: '{"answer":"why?"}' });
  });
});

it("a create that was answered without an id is FAILED as not known, and is not sent again", async () => {
  let creates = 0;
  const upstream: Upstream = {
    ...{ at: "https://there.example", provider: "there", canStop: true },
    create: async () => {
      creates++;
      return { kind: "created" };
    },
    end: (_remoteId, signal) => waitUnlessAborted(new Promise(() => {}), signal),
    stop: async () => {},
    close: async () => {},
  };
  local = await upstreamService({ upstream, dataDir, clock });
  const id = await local.create("why?");
  expect(await local.ended(id)).toMatchObject({
    ...{ status: "FAILED", reason: expect.stringContaining("It is not known whether it exists at there") },
  });
  await clock.sleep(5 * MINUTE);
  expect(creates).toBe(1);
});

describe("a stop", () => {
  const AWAY: [string, () => Behaviour][] = [
    ["503", () => html(503)],
    ["an ingress's 404 page", () => html(404)],
    ["an invalid key", () => refuse(401, "INVALID_API_KEY")],
  ];
  it.each(AWAY)(
    "while that place answers %s for ten minutes, with a restart in between, is one there within 30 s of its return",
    async (_, wrong) => {
      const double = await there();
      await serveAt(double);
      const id = await local.create("why? => PENDING PROCESSING");
      await happens(() => double.server.count("status") > 1);
      fault = () => wrong();
      expect(await local.stop(id)).toMatchObject({ kind: "stopped" });
      await clock.sleep(5 * MINUTE);
      await local.service.close();
      await serveAt(double);
      await clock.sleep(5 * MINUTE);
      expect((await local.store.readCounts()).cancellations).toBe(1);
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
      end: (_remoteId, signal) => waitUnlessAborted(new Promise(() => {}), signal),
      stop: (remoteId, signal) =>
        isSilent
          ? waitUnlessAborted(new Promise(() => {}), signal)
          : Promise.resolve(void stopped.add(remoteId)),
      close: async () => {},
    };
    local = await upstreamService({ upstream, dataDir, clock });
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => local.create(`remote-${n}`)));
    await clock.sleep(5_000);
    for (const id of ids) await local.stop(id);
    await clock.sleep(5 * MINUTE);
    const closing = clock.monotonic();
    await local.service.close();
    expect(clock.monotonic() - closing).toBeLessThan(20_000);
    local = await upstreamService({ upstream, dataDir, clock });
    await clock.sleep(5 * MINUTE);
    expect((await local.store.readCounts()).cancellations).toBe(20);
    isSilent = false;
    const back = clock.monotonic();
    await happens(() => stopped.size === 20);
    expect(clock.monotonic() - back).toBeLessThan(30_000);
    expect(local.log.join()).toContain("no answer within 15 s");
  });

  it.each([
    ["comes back in time: the id is kept, and nothing is logged", 5_000, 0],
    ["stays away: the id is logged once, after ten seconds", 60_000, 1],
  ])("an id whose store is away when the service ends, and %s", async (_, awayMs, lines) => {
    const double = await there();
    await serveAt(double);
    const { remote } = local.store;
    const keep = remote.keep.bind(remote);
    const until = clock.monotonic() + awayMs;
    let tries = 0;
    remote.keep = async (...args) => {
      tries++;
      if (clock.monotonic() < until) throw new StoreUnavailableError("the store is away");
      return await keep(...args);
    };
    const id = await local.create("why? => PROCESSING");
    await happens(() => tries > 0);
    const start = clock.monotonic();
    await local.service.close();
    expect(Math.round((clock.monotonic() - start) / 1_000)).toBe(lines ? 10 : 5);
    expect(local.log.filter((line) => line.includes("could not be stored"))).toHaveLength(lines);
    const [remoteId = ""] = [...double.conversations.keys()];
    if (lines)
      expect(local.log.join()).toContain(`the id ${remoteId}, which there created, could not be stored`);
    else expect(await local.store.remote.read(id)).toMatchObject({ remoteId });
  });

  it("while the create is sent leaves it on the wire, and stops what it has created", async () => {
    const wires: AbortSignal[] = [];
    const stopped: string[] = [];
    const { opened: answered, open: answer } = gate();
    const upstream: Upstream = {
      ...{ at: "https://there.example", provider: "there", canStop: true },
      async create(_job, signal, onId) {
        wires.push(signal);
        await waitUnlessAborted(answered, signal);
        onId("remote");
        return { kind: "created" };
      },
      end: (_remoteId, signal) => waitUnlessAborted(new Promise(() => {}), signal),
      stop: async (remoteId) => void stopped.push(remoteId),
      close: async () => {},
    };
    local = await upstreamService({ upstream, dataDir, clock });
    const id = await local.create("why?");
    await happens(() => wires.length > 0);
    await local.stop(id);
    await clock.sleep(MINUTE);
    expect(wires.map(({ aborted }) => aborted)).toEqual([false]);
    answer();
    await happens(() => stopped.length > 0);
    expect([wires.length, stopped]).toEqual([1, ["remote"]]);
  });

  it("that a provider does not find is tried for ten minutes: it may not know yet what it has created", async () => {
    const double = await providerThere();
    const since = clock.monotonic();
    const lag = '{"error":{"message":"no such response","type":"not_found","code":null}}';
    fault = (operation) =>
      operation !== "create" && clock.monotonic() - since < 45_000
        ? answer({ status: 404, body: lag })
        : undefined;
    const id = await local.create("why? => queued in_progress");
    await happens(() => double.server.count("create") === 1);
    await clock.sleep(1_000);
    await local.stop(id);
    await happens(() => [...double.runs.values()][0]?.words.at(-1) === "cancelled");
    // What is gone for good is not asked about for ever.
    fault = (operation) => (operation === "create" ? undefined : answer({ status: 404, body: lag }));
    const two = await local.create("why? => queued in_progress");
    await happens(() => double.server.count("create") === 2);
    await clock.sleep(1_000);
    await local.stop(two);
    await clock.sleep(9 * MINUTE);
    expect((await local.store.readCounts()).cancellations).toBe(1);
    await clock.sleep(2 * MINUTE);
    expect((await local.store.readCounts()).cancellations).toBe(0);
  });

  it("that is refused is tried until nothing runs there any more", async () => {
    const double = await providerThere();
    const no = '{"error":{"message":"not now","type":"t","code":"not_now"}}';
    fault = only("stop", answer({ status: 400, body: no }));
    const id = await local.create("why? => queued in_progress");
    await happens(() => double.server.count("status") > 0);
    await local.stop(id);
    await clock.sleep(2 * MINUTE);
    expect((await local.store.readCounts()).cancellations).toBe(1);
    const [run] = [...double.runs.values()];
    if (run) run.words = ["completed"];
    await clock.sleep(MINUTE);
    expect((await local.store.readCounts()).cancellations).toBe(0);
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
  for (let n = 0; n < 120; n++) await local.create(`${n} => ${states}`);
  await happens(() => double.conversations.size === 120);
  await clock.sleep(20_000);
  for (const [n, at] of polls.entries()) expect(at - (polls[n - 50] ?? -1_000)).toBeGreaterThanOrEqual(999);
  expect(polls.length).toBeGreaterThan(500);
  expect(byId.size).toBe(120);
  const counts = [...byId.values()];
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(10);
  expect(double.server.count("create")).toBe(120);
});

describe("what the upstream says to a create", () => {
  /** Creates are answered so while it is there, each one's time is kept. */
  let wrong: (() => Behaviour) | undefined;
  let sent: { request: { body: Buffer }; at: number }[];
  beforeEach(() => {
    wrong = undefined;
    sent = [];
    fault = (operation, _nth, request) => {
      if (operation !== "create") return undefined;
      sent.push({ request, at: clock.monotonic() });
      return wrong?.();
    };
  });
  const statusOf = async (id: string) => {
    const { json } = await ask(local.service.baseUrl, {
      path: `/api/v1/conversation/${id}/status`,
      key: OWN_KEY,
    });
    return json.data?.status;
  };
  const createOverHttp = () =>
    post(local.service.baseUrl, "/api/v1/conversations", OWN_KEY, { prompt: "another" });
  const waits = () =>
    sent.slice(1).map(({ at }, n) => Math.round((at - (sent[n] as { at: number }).at) / 1_000));
  const quota = () =>
    answer({
      status: 429,
      body: '{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}',
    });
  const refusal = (status: number, code: string, message: string) => () =>
    answer({ status, body: JSON.stringify({ error: { message, type: code, code } }) });

  it.each<[string, () => Behaviour, number[]]>([
    ["a 429 with Retry-After", () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 45 }), [45, 45, 45]],
    ["a 429 without", () => refuse(429, "RATE_LIMIT_EXCEEDED"), [5, 10, 20, 40, 60, 60]],
    ["a 402 of our own interface", () => refuse(402, "NO_MONEY"), [60, 60]],
    ["a refused key", () => refuse(401, "INVALID_API_KEY"), [60, 60]],
    ["a gateway's 403", () => html(403), [5, 10, 20]],
    ["a gateway's 404", () => html(404, { "retry-after": 7 }), [7, 7]],
    ["a redirect", () => redirect(302, "https://elsewhere.example/"), [5, 10, 20]],
  ])("%s: what was accepted waits as PENDING, and is tried again as told", async (_, behaviour, expected) => {
    wrong = behaviour;
    const double = await there();
    await serveAt(double);
    const id = await local.create("why?");
    await happens(() => sent.length > expected.length);
    expect(waits().slice(0, expected.length)).toEqual(expected);
    expect(await statusOf(id)).toBe("PENDING");
    wrong = undefined;
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
    expect(double.conversations.size).toBe(1);
  });

  it("no connection: it waits, and what was accepted and comes later is taken once it is back", async () => {
    let isAway = true;
    const double = await HappyService.start({ onConnection: () => (isAway ? "reset" : "serve") });
    closing.push(() => double.server.close());
    await serveAt(double);
    const id = await local.create("why?");
    await clock.sleep(10 * MINUTE);
    expect(await statusOf(id)).toBe("PENDING");
    expect((await createOverHttp()).status).toBe(200);
    isAway = false;
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
    expect((await createOverHttp()).status).toBe(200);
  });

  it("no more than the day of the account allows: the others wait, a restart between, and say why", async () => {
    const { url, conversations } = await there();
    const day = { account: "a", most: 2, words: "there (profile p), set by profile p" };
    const open = () => upstreamService({ url, apiKey: KEY, day, dataDir, clock });
    local = await open();
    const begun = clock.now();
    for (const id of [await local.create("1"), await local.create("2")])
      expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
    await local.service.close();
    clock = new VirtualClock(begun + (24 * 60 - 2) * MINUTE);
    local = await open();
    wrong = () => refuse(400, "VALIDATION_ERROR");
    const third = await local.create("3");
    await clock.sleep(MINUTE);
    expect(await statusOf(third)).toBe("PENDING");
    const { reason = "" } = (await local.store.get(OPERATOR, third)) ?? {};
    expect(reason).toMatch(
      /^there: the limit of 2 creates in 24 hours at there \(profile p\), set by profile p, is used up until \d{4}-/,
    );
    expect(await local.ended(third)).toMatchObject({ status: "FAILED" });
    expect(clock.now() - begun).toBeGreaterThanOrEqual(24 * 60 * MINUTE);
    expect(conversations.size).toBe(2);
    wrong = undefined;
    // The refused one does not count.
    for (const id of [await local.create("4"), await local.create("5")])
      expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
  });

  it("after a limit all of them go on as soon as the window is open", async () => {
    wrong = () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 45 });
    await serveAt(await there());
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => local.create(`${n}`)));
    await clock.sleep(40_000);
    expect(sent.length).toBeLessThanOrEqual(4);
    wrong = undefined;
    const since = clock.monotonic();
    for (const id of ids) expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
    expect(clock.monotonic() - since).toBeLessThan(20_000);
  });

  it("at a limit new creates are taken until as many of that key wait as may be under way there", async () => {
    wrong = () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 600 });
    const { url } = await there();
    local = await upstreamService({ url, apiKey: KEY, dataDir, clock, atOnce: 3 });
    const answers: number[] = [];
    for (let n = 0; n < 5; n++) {
      answers.push((await createOverHttp()).status);
      await clock.sleep(1_000);
    }
    expect(answers).toEqual([200, 200, 200, 429, 429]);
    const { headers, json } = await createOverHttp();
    expect(Number(headers["retry-after"])).toBeGreaterThan(590);
    expect(json.error?.message).toContain("RATE_LIMIT_EXCEEDED");
    // Another key's may wait.
    expect(await local.store.remote.findRefusal("bob")).toBeUndefined();
  });

  it.each<[string, () => Behaviour, string]>([
    ["no money", quota, "there: You exceeded your current quota."],
    ["a refused key", refusal(401, "invalid_api_key", "Bad key."), "there: Bad key."],
    [
      "no such model",
      refusal(404, "model_not_found", "The model `x` does not exist."),
      "there: The model `x`",
    ],
    ["no such preset", refusal(400, "invalid_request", "Unknown preset 'x'."), "there: Unknown preset"],
  ])(
    "%s: it waits, one is tried each minute, and new creates are 429 with its words",
    async (_, behaviour, words) => {
      wrong = behaviour;
      const double = await providerThere();
      const ids = await Promise.all(
        ["one", "two", "three", "four", "five", "six"].map((text) => local.create(text)),
      );
      await happens(() => sent.length === 4);
      await clock.sleep(1_000);
      for (let n = 0; n < 10; n++) {
        const { status, headers, json } = await createOverHttp();
        expect([status, json.error?.message]).toEqual([429, expect.stringContaining(words)]);
        expect(Number(headers["retry-after"])).toBeLessThanOrEqual(60);
        await clock.sleep(30_000);
      }
      expect([...new Set(waits().slice(4))]).toEqual([60]);
      // Nobody is tried twice before the others were.
      for (const id of ids) expect(await statusOf(id)).toBe("PENDING");
      wrong = undefined;
      for (const id of ids) expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
      expect(double.runs.size).toBe(6);
      expect(local.log.filter((line) => line.includes("creates at there fail"))).toHaveLength(1);
      expect((await createOverHttp()).status).toBe(200);
    },
  );

  it.each<[string, () => Behaviour]>([
    ["503", () => html(503)],
    ["409", () => html(409)],
    ["a closed connection", () => close()],
  ])(
    "%s: FAILED as not known, never sent again; after three in a row new creates are 429 for a minute",
    async (_, behaviour) => {
      wrong = behaviour;
      const double = await there();
      await serveAt(double);
      for (let n = 1; n <= 3; n++) {
        expect((await createOverHttp()).status).toBe(200);
        await happens(() => sent.length === n);
        await clock.sleep(31_000);
      }
      expect(await local.store.overview.countStates()).toMatchObject({ FAILED: 3 });
      const { conversations } = await local.store.overview.listNewest(3);
      for (const { reason } of conversations)
        expect(reason).toContain("It is not known whether it exists at there");
      expect(local.log.join()).toContain("was sent and its answer was not read");
      const refused = await createOverHttp();
      expect([refused.status, Number(refused.headers["retry-after"]) <= 60]).toEqual([429, true]);
      wrong = undefined;
      await clock.sleep(MINUTE);
      expect((await createOverHttp()).status).toBe(200);
      await clock.sleep(MINUTE);
      expect(await local.store.overview.countStates()).toMatchObject({ COMPLETED: 1 });
      expect(sent).toHaveLength(4);
    },
  );

  it.each<[string, () => Behaviour]>([
    [
      "a schema",
      refusal(
        400,
        "invalid_json_schema",
        "Invalid schema: the property model is invalid, and so is the unknown model in it.",
      ),
    ],
    ["policy", refusal(400, "invalid_prompt", "Your prompt was flagged by our policy.")],
    ["moderation", refusal(403, "moderation_blocked", "The request was blocked by moderation.")],
    [
      "length",
      refusal(400, "context_length_exceeded", "Your input exceeds the context window of this model."),
    ],
    ["form", refusal(422, "unprocessable", "No such field.")],
  ])("a refusal of the question (%s): FAILED with its sentence, and nothing else", async (_, behaviour) => {
    wrong = behaviour;
    const double = await providerThere();
    for (let n = 0; n < 5; n++) {
      const { status, reason } = await local.ended(await local.create("bad"));
      expect([status, reason]).toEqual(["FAILED", expect.stringMatching(/^there: \w/)]);
    }
    expect((await local.store.readCounts()).isRefused).toBe(false);
    expect((await createOverHttp()).status).toBe(200);
    wrong = undefined;
    expect(await local.ended(await local.create("good"))).toMatchObject({ status: "COMPLETED" });
    expect(double.server.count("create")).toBe(7);
  });

  it("what waits survives a stop of the service, and is tried again no sooner than told", async () => {
    wrong = () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 600 });
    const double = await there();
    await serveAt(double);
    const id = await local.create("why?");
    await happens(() => sent.length === 1);
    await clock.sleep(MINUTE);
    await local.service.close();
    await serveAt(double);
    expect(await statusOf(id)).toBe("PENDING");
    await clock.sleep(8 * MINUTE);
    expect(sent).toHaveLength(1);
    wrong = undefined;
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
    expect(
      Math.round((sent[1]?.at ?? 0) / 1_000) - Math.round((sent[0]?.at ?? 0) / 1_000),
    ).toBeGreaterThanOrEqual(600);
    expect(double.conversations.size).toBe(1);
  });

  it("a stop of the service while nobody can be reached: it waits, and was not sent", async () => {
    let isAway = true;
    const double = await HappyService.start({ onConnection: () => (isAway ? "reset" : "serve") });
    closing.push(() => double.server.close());
    await serveAt(double);
    const id = await local.create("why?");
    // In the midst of the client's own tries.
    await clock.sleep(700);
    await local.service.close();
    isAway = false;
    await serveAt(double);
    expect(await local.ended(id)).toMatchObject({ status: "COMPLETED" });
  });

  it("a stop ends what waits, unsent", async () => {
    wrong = () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 60 });
    const double = await there();
    await serveAt(double);
    const id = await local.create("why?");
    await happens(() => sent.length === 1);
    await clock.sleep(1_000);
    expect(await local.stop(id)).toEqual({ kind: "stopped" });
    wrong = undefined;
    await clock.sleep(10 * MINUTE);
    expect([sent.length, double.conversations.size, await statusOf(id)]).toEqual([1, 0, "STOPPED"]);
  });

  it("after 24 hours since it was accepted it is FAILED with the last reason, restarts counted", async () => {
    wrong = quota;
    const { url } = await providerThere();
    const serveAgain = async () => {
      local = await upstreamService({
        ...{ url, apiKey: PROVIDER_KEY, dialect: createPerplexityDialect("deep-research"), dataDir, clock },
      });
    };
    const ids = [await local.create("one"), await local.create("two")];
    await happens(() => sent.length === 2);
    await local.service.close();
    await clock.sleep(24 * 60 * MINUTE - 5 * MINUTE);
    await serveAgain();
    const later = await local.create("later");
    await clock.sleep(4 * MINUTE);
    for (const id of ids) expect(await statusOf(id)).toBe("PENDING");
    const reason =
      "It could not be sent within 24 hours, and was not sent. there: You exceeded your current quota.";
    for (const id of ids) expect(await local.ended(id)).toMatchObject({ status: "FAILED", reason });
    await local.service.close();
    await clock.sleep(24 * 60 * MINUTE);
    const tries = sent.length;
    await serveAgain();
    expect(await local.ended(later)).toMatchObject({ status: "FAILED", reason });
    expect(sent).toHaveLength(tries);
  });

  it("a question of one key does not wait behind 196 of another", async () => {
    wrong = () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 60 });
    await serveAt(await there());
    for (let n = 0; n < 196; n++) await local.create(`alice ${n}`, undefined, "alice");
    await local.create("bob", undefined, "bob");
    await clock.sleep(30_000);
    wrong = undefined;
    sent = [];
    await happens(() => sent.length === 197);
    // The body of the last one may still be on its way.
    await clock.sleep(1_000);
    const prompts = sent.map(({ request }) => String(JSON.parse(String(request.body)).prompt));
    expect(prompts.indexOf("bob")).toBeLessThanOrEqual(5);
    expect(new Set(prompts).size).toBe(197);
  });
});

describe("a request that is polled", () => {
  const gone = '{"error":{"message":"no such response","type":"not_found","code":null}}';
  it("is FAILED with the reason where it was cut short", async () => {
    await providerThere();
    const part = '[{"type":"message","content":[{"type":"output_text","text":"A part"}]}]';
    const details = '{"reason":"max_output_tokens"}';
    const body = `{"status":"incomplete","incomplete_details":${details},"output":${part}}`;
    fault = only("status", answer({ body }));
    const id = await local.create("why?");
    expect(await local.ended(id)).toMatchObject({ reason: expect.stringContaining("max_output_tokens") });
  });

  it("is FAILED only after ten minutes of 404 in the provider's words", async () => {
    const double = await providerThere();
    const id = await local.create(`why? => ${Array(400).fill("in_progress").join(" ")} completed`);
    await happens(() => double.server.count("status") > 1);
    await clock.sleep(5 * MINUTE);
    const since = clock.monotonic();
    const times = [0, 9 * MINUTE];
    fault = (operation) =>
      operation === "status" &&
      times.some((from) => clock.monotonic() - since >= from && clock.monotonic() - since < from + 8 * MINUTE)
        ? answer({ status: 404, body: gone })
        : undefined;
    // Twice eight minutes, with an answer in between.
    await clock.sleep(18 * MINUTE);
    expect((await local.store.get(OPERATOR, id))?.status).toBe("PROCESSING");
    fault = only("status", answer({ status: 404, body: gone }));
    const from = clock.monotonic();
    expect(await local.ended(id)).toMatchObject({
      status: "FAILED",
      reason: expect.stringContaining("any more"),
    });
    expect(clock.monotonic() - from).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(clock.monotonic() - from).toBeLessThan(13 * MINUTE);
  });
});
