import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CodedError } from "../../../src/app/errors.js";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { computeUnsentKey } from "../../../src/client/store/history/equal-creates.js";
import { History } from "../../../src/client/store/history/history.js";
import type { Account } from "../../../src/client/workflows/account.js";
import { CreateOnce, type CreateOnceOptions } from "../../../src/client/workflows/create-once.js";
import { UnresolvedCreateError } from "../../../src/client/workflows/errors.js";
import { type Clock, systemClock } from "../../../src/core/clock.js";
import { describeThisProcessAsHolder } from "../../../src/core/files/file-lock/holder.js";
import { acquireLock } from "../../../src/core/files/file-lock.js";
import { hashSha256 } from "../../../src/core/files/local-error.js";
import type { CreateBody } from "../../../src/core/protocol/conversation.js";
import { DAY_MS } from "../../../src/core/protocol/rate-limits.js";
import { ok, refuse } from "../../support/behaviours.js";
import { folderWith } from "../../support/folder.js";
import { type HappyOptions, HappyService, KEY } from "../../support/happy-service.js";
import { filesWith } from "../../support/home.js";

const BODY: CreateBody = { prompt: "x" };

/** A history, a service, and what a call makes: the name of a request, and how often one was sent. */
async function openAccount(options: HappyOptions = {}, most?: number) {
  const service = await HappyService.start(options);
  const client = new ResearchClient({ baseUrl: service.url, apiKey: KEY });
  let [offset, slow] = [0, 0];
  const clock = {
    now: () => Date.now() + offset,
    // Each look at it takes so long once `slowDown` was called.
    monotonic: () => {
      offset += slow;
      return systemClock.monotonic() + offset;
    },
    // What announces a wait does so at once.
    sleep: async (ms: number, signal?: AbortSignal) => ms === 2_000 || systemClock.sleep(ms, signal),
  } as Clock;
  const history = new History(join(folderWith(), "state"), clock.now);
  const account: Account = {
    outputField: "output",
    ...{ client, history, clock, origin: client.origin, apiKey: KEY, profile: null, unrecorded: false },
  };
  const once = new CreateOnce(most);
  const call = async (body = BODY, given: Partial<CreateOnceOptions> = {}, by = once) => {
    const result = await by.create([{ account, body }], { submit: {}, ...given });
    expect(result.kind).toBe("entry" in result ? "reused" : "created");
    return result.kind === "reused" ? result.entry.request_id : result.submitted.data.request_id;
  };
  const pass = (ms: number) => {
    offset += ms;
  };
  const slowDown = () => {
    slow = 180_000;
  };
  return {
    service,
    history,
    account,
    call,
    once,
    pass,
    slowDown,
    sent: () => service.server.count("create"),
  };
}

describe("the same call again", () => {
  test("gives back the request, also if another process made it", async () => {
    const { call, sent, pass } = await openAccount();
    const id = await call();
    expect(await call()).toBe(id);
    pass(DAY_MS - 60_000);
    expect(await call(BODY, {}, new CreateOnce())).toBe(id);
    expect(sent()).toBe(1);
  });

  test("at the same time makes one request, in one process and in two", async () => {
    const { call, sent } = await openAccount();
    const calls = [call(), call(), call(BODY, {}, new CreateOnce())];
    expect(new Set(await Promise.all(calls)).size).toBe(1);
    expect(sent()).toBe(1);
  });

  test.each<[string, (given: Awaited<ReturnType<typeof openAccount>>, id: string) => unknown]>([
    ["with another prompt", ({ call }) => call({ prompt: "y" })],
    ["with a schema", ({ call }) => call({ ...BODY, structured_output: true, output_schema: {} })],
    ["that is to be repeated", ({ call }) => call(BODY, { repeat: true })],
    ["more than a day later", ({ call, pass }) => [pass(DAY_MS + 1_000), call()][1]],
    ...["FAILED", "STOPPED"].map(
      (status): [string, (given: Awaited<ReturnType<typeof openAccount>>, id: string) => unknown] => [
        `after the request ${status}`,
        ({ call, history }, id) => {
          const [entry] = history.find(id);
          if (entry) history.observe(entry, status);
          return call();
        },
      ],
    ),
  ])("%s makes another one", async (_, use) => {
    const given = await openAccount();
    const id = (await given.call()) ?? "";
    expect(await use(given, id)).not.toBe(id);
    expect(given.sent()).toBe(2);
  });
});

test("an unknown outcome is never sent again, until it is settled", async () => {
  const lost = (operation: string, nth: number) =>
    operation === "create" && nth === 1 ? refuse(502, "LOST") : undefined;
  const { call, history, sent } = await openAccount({ fault: lost });
  await expect(call()).rejects.toThrow(UnresolvedCreateError);
  await expect(call()).rejects.toThrow(UnresolvedCreateError);
  await expect(call(BODY, { repeat: true })).rejects.toThrow(UnresolvedCreateError);
  expect(sent()).toBe(1);
  history.resolve(history.list({ limit: 1 })[0]?.local_id ?? "", null);
  expect(await call()).toEqual(expect.any(String));
  expect(sent()).toBe(2);
});

/** Records a create that another process has begun. */
function begunBy({ history, account }: Awaited<ReturnType<typeof openAccount>>, process: object): void {
  const { origin, profile } = account;
  history.begin({ origin, profile, apiKey: KEY, body: BODY });
  const intents = filesWith(history.folder, '"kind":"intent"');
  for (const path of intents) {
    const [intent = "", room = ""] = readFileSync(path, "utf8").split("\n");
    writeFileSync(
      path,
      [intent, room, JSON.stringify({ ...describeThisProcessAsHolder(), ...process }), ""].join("\n"),
    );
  }
  expect(intents).toHaveLength(1);
}

test("a create of a process that has died is an unknown outcome at once", async () => {
  const given = await openAccount();
  begunBy(given, { pid: 2 ** 30 });
  const soon = { submit: { signal: AbortSignal.timeout(20_000) } };
  await expect(given.call(BODY, soon)).rejects.toThrow(UnresolvedCreateError);
  expect(given.sent()).toBe(0);
});

test("a create of a process in another container is waited for three minutes, then its outcome is unknown", async () => {
  const rig = await openAccount();
  const { call, pass, sent } = rig;
  // That process cannot be asked whether it lives: it has another kernel.
  begunBy(rig, { boot: "other", host: "other" });
  const ending = new AbortController();
  const onUnderWay = (until: number) => ending.abort(until);
  const waiting = call(BODY, { submit: { signal: ending.signal }, onUnderWay });
  await expect(waiting).rejects.toBeGreaterThan(Date.now() + 170_000);
  pass(180_000);
  const later = { submit: { signal: AbortSignal.timeout(20_000) } };
  await expect(call(BODY, later, new CreateOnce())).rejects.toThrow(UnresolvedCreateError);
  expect(sent()).toBe(0);
});

test("where another process has the lock of the same create for too long, its outcome is unknown", async () => {
  const rig = await openAccount();
  const { history, account, call, sent, slowDown } = rig;
  const locks = join(history.folder, "creates");
  mkdirSync(locks, { recursive: true });
  const name = hashSha256(computeUnsentKey({ origin: account.origin, apiKey: KEY, body: BODY }));
  const release = await acquireLock(join(locks, `${name}.lock`));
  const enough = new Error("enough");
  await expect(call(BODY, { submit: { signal: AbortSignal.abort(enough) } })).rejects.toBe(enough);
  slowDown();
  await expect(call()).rejects.toMatchObject({ detail: expect.stringMatching(/^it is under way: process/) });
  begunBy(rig, {});
  await expect(call()).rejects.toMatchObject({ localId: expect.any(String) });
  release();
  rmSync(locks, { recursive: true });
  writeFileSync(locks, "");
  await expect(call()).rejects.toThrow(/^the request was not sent: its lock could not be taken/);
  expect(sent()).toBe(0);
});

test("an account without a key is left out, unless there is no other", async () => {
  const { account, once } = await openAccount();
  const keyless = {
    ...{ ...account, origin: "https://b.example" },
    get apiKey(): string {
      throw new CodedError("NOT_AUTHENTICATED", "no key");
    },
  };
  const [lacking, having] = [keyless, account].map((one) => ({ account: one, body: BODY }));
  if (!lacking || !having) expect.fail();
  await expect(once.create([lacking], { submit: {} })).rejects.toThrow("no key");
  expect(await once.create([lacking, having], { submit: {} })).toMatchObject({ request: having });
  expect(await once.create([lacking, having], { submit: {} })).toMatchObject({ kind: "reused" });
});

test("a call that is given up leaves the create to go on, and the next call gets its request", async () => {
  const { call, service, history, once, sent } = await openAccount();
  let answer = () => {};
  service.server.script(() => ({
    act: async (socket, request) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await ok({ request_id: "late-1", status: "PENDING" }).act(socket, request);
    },
  }));
  const enough = new AbortController();
  const first = call(BODY, { signal: enough.signal });
  await expect.poll(sent, { timeout: 10_000 }).toBe(1);
  enough.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  const settled = once.waitUntilSettled();
  answer();
  await settled;
  expect(history.find("late-1")).toHaveLength(1);
  expect(await call()).toBe("late-1");
  expect(sent()).toBe(1);
});

describe("no more are sent than allowed", () => {
  test("and one that is given back is none of them", async () => {
    const { call } = await openAccount({}, 1);
    const id = await call();
    expect(await call()).toBe(id);
    await expect(call({ prompt: "y" })).rejects.toMatchObject({
      ...{
        code: "NOT_ALLOWED",
        message: "the limit of create requests is reached, so the request was not sent",
      },
      hint: undefined,
    });
  });

  test("nor is one that the service refused, but one of which nothing is known", async () => {
    const faults = [refuse(400, "VALIDATION_ERROR"), refuse(502, "LOST")];
    const fault = (operation: string, nth: number) => (operation === "create" ? faults[nth - 1] : undefined);
    const { call, sent } = await openAccount({ fault }, 1);
    await expect(call()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(call()).rejects.toThrow(UnresolvedCreateError);
    await expect(call({ prompt: "y" })).rejects.toMatchObject({ kind: "used-up" });
    expect(sent()).toBe(2);
  });
});

test("without a history nothing is sent", async () => {
  const { account, once, sent } = await openAccount();
  const bare = { ...account, history: undefined, unrecorded: true };
  const other = { ...bare, origin: "https://b.example" };
  for (const named of [[bare], [account, other], [other, account]]) {
    const accounts = named.map((one) => ({ account: one, body: BODY }));
    await expect(once.create(accounts, { submit: {} })).rejects.toMatchObject({
      ...{ code: "NOT_ALLOWED", message: "the history is off, so the request was not sent" },
      hint: expect.stringMatching(/`research config unset history`, or unset RESEARCH_NO_HISTORY/),
    });
  }
  expect(sent()).toBe(0);
});
