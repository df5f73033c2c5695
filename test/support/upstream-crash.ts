import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { addProfile } from "./accounts.js";
import { answer, hang, html, refuse, reset } from "./behaviours.js";
import { folderWith } from "./folder.js";
import { gate } from "./gate.js";
import { HappyService, KEY as UPSTREAM_KEY } from "./happy-service.js";
import { heldWire, type Passing } from "./held-wire.js";
import { foldersIn } from "./home.js";
import { research } from "./in-process.js";
import { query } from "./postgres.js";
import { PostgresProxy } from "./postgres-proxy.js";
import type { PostgresServer } from "./postgres-server.js";
import { type Running, start } from "./run.js";
import { until } from "./service.js";
import { ask, post } from "./wire.js";

const KEY = "test-key-0123456789";
/** The shortest that `serve` takes, ms. */
const LEASE_MS = 1_000;

/** A moment of one conversation: a request to the service behind, or a statement to PostgreSQL that is lost there. */
export type Point = Passing | { statement: string; what: "statement" | "answer" };

export interface Blow {
  /** Of the database; undefined for `--data`. */
  database: string | undefined;
  point: Point;
  /** SIGKILL; or SIGSTOP, past the lease, while another worker goes on. */
  how: "kill" | "suspend";
  /** Whether the conversation is stopped as soon as it is polled. */
  stops: boolean;
  /** How long after its moment the blow falls, ms. */
  afterMs: number;
}

export interface Aftermath {
  /** As the service behind saw them. */
  posts: number;
  polls: number;
  status: string;
  /** Why it is FAILED. */
  message: string;
  requestId: string;
  /** What became of the request there; undefined if it was never created. */
  there: string | undefined;
  /** Conversations that are FAILED although the id there is kept. */
  failedWithId: number;
}

type Env = Readonly<Record<string, string>>;

/** A service that was started, with its address. */
async function serving(env: Env, ...flags: string[]) {
  const service = start(["serve", "--port", "0", ...flags], { env, timeoutMs: 1_200_000 });
  const [baseUrl = ""] = await service.waitFor(/http:\/\/[\d.:]+/, { timeoutMs: 60_000 });
  return { one: service, baseUrl };
}

/** A process at a database that only answers, which needs neither the profile nor its key, and what starts a worker. */
async function leasing(env: Env) {
  const role = (...flags: string[]) => serving(env, "--lease", `${LEASE_MS}ms`, "--role", ...flags);
  return { api: await role("api"), worker: () => role("worker", "--upstream", "behind") };
}

/** Has one conversation researched by a service behind, strikes at a moment of it, and looks at what it comes to. */
export async function strike({ database, point, how, stops, afterMs }: Blow): Promise<Aftermath> {
  const behind = await HappyService.start();
  const { opened: blow, open: struck } = gate();
  let running: Running | undefined;
  let isArmed = false;
  const hit = async () => {
    isArmed = false;
    if (afterMs > 0) await delay(afterMs);
    running?.signal(how === "kill" ? "SIGKILL" : "SIGSTOP");
    if (how === "kill") await running?.done;
    struck();
  };
  const isHere = ({ operation, moment, nth }: Passing) =>
    "moment" in point && operation === point.operation && moment === point.moment && nth >= point.nth;
  const url = await heldWire(behind.server.port, async (passing) => {
    if (!isArmed || !isHere(passing)) return;
    // After the answer was passed on, the program goes on while the blow is on its way.
    if (passing.moment === "read") void hit();
    else await hit();
  });
  const proxy = database === undefined ? undefined : new PostgresProxy(database);
  const env = {
    ...foldersIn(folderWith()),
    ...{ RESEARCH_SERVE_API_KEY: KEY, ...(proxy && { RESEARCH_SERVE_DATABASE: proxy.url }) },
  };
  // Without a login, which would ask the service behind.
  await addProfile(env, "behind", url, UPSTREAM_KEY);
  const kept = database === undefined ? ["--data", folderWith()] : ["--lease", `${LEASE_MS}ms`];
  const serve = () => serving(env, ...kept, "--upstream", "behind");
  const first = await serve();
  running = first.one;
  isArmed = true;
  // Cancellations are looked for all the time: the one that counts comes after the stop.
  const after = stops ? "stop" : undefined;
  if ("statement" in point) proxy?.lose(point.statement, point.what, () => void hit(), after);
  const prompt = stops ? "why? => PENDING PROCESSING" : "why? => PENDING PROCESSING COMPLETED";
  const created = await post(first.baseUrl, "/api/v1/conversations", KEY, { prompt });
  const requestId = String(created.json.data?.request_id);
  const path = `/api/v1/conversation/${requestId}`;
  let isStopped = !stops;
  const stop = async (baseUrl: string) => {
    if (isStopped) return;
    const { status } = await post(baseUrl, `${path}/stop`, KEY).catch(() => ({ status: 0 }));
    isStopped = status === 200;
  };
  if (stops) {
    await until(async () => behind.server.count("status") > 0 || undefined, 60_000);
    await stop(first.baseUrl);
  }
  await blow;
  const second = await serve();
  // A client that was not answered asks again: the stop itself may be what was lost.
  await stop(second.baseUrl);
  if (how === "suspend") {
    await delay(2 * LEASE_MS);
    first.one.signal("SIGCONT");
  }
  const state = await until(async () => {
    const { json } = await ask(second.baseUrl, { path: `${path}/status`, key: KEY });
    const status = String(json.data?.status);
    return ["COMPLETED", "FAILED", "STOPPED"].includes(status) ? status : undefined;
  }, 120_000);
  const thereNow = () => [...behind.conversations.values()][0];
  // What is stopped here is stopped there, a moment later.
  if (state === "STOPPED" && thereNow())
    await until(async () => thereNow()?.timeline.join() === "STOPPED" || undefined, 30_000).catch(() => {});
  const { json } = await ask(second.baseUrl, { path: `${path}/output`, key: KEY });
  const failed = "SELECT FROM research.conversations WHERE status = 'FAILED' AND remote_id IS NOT NULL";
  const failedWithId = database === undefined ? 0 : (await query(database, failed)).length;
  for (const { one } of [first, second]) one.signal("SIGKILL");
  await Promise.all([first.one.done, second.one.done]);
  const aftermath = {
    ...{
      posts: behind.server.count("create"),
      polls: behind.server.count("status"),
      status: state,
      requestId,
    },
    ...{ message: json.error?.message ?? "", there: thereNow()?.timeline.at(-1), failedWithId },
  };
  await behind.server.close();
  return aftermath;
}

/** What is wrong after a blow; nothing, if nothing is lost, doubled or left running. */
export function wrongs({
  posts,
  polls,
  status,
  message,
  requestId,
  there,
  failedWithId,
}: Aftermath): string[] {
  const wrong: string[] = [];
  if (posts > 1) wrong.push(`${posts} POSTs`);
  if (status === "COMPLETED" && posts !== 1) wrong.push(`COMPLETED with ${posts} POSTs`);
  if (status === "FAILED") {
    if (!message.includes("It is not known whether it exists at")) wrong.push(`FAILED: ${message}`);
    if (!message.includes(requestId)) wrong.push("the local id is not said");
    if (polls > 0 || failedWithId > 0) wrong.push("FAILED although the id was kept");
  }
  if (status === "STOPPED" && posts > 0 && there !== "STOPPED") wrong.push(`it goes on there: ${there}`);
  return wrong;
}

/**
 * Has so many conversations of an hour's age wait for a service behind, and says what the process takes in `forMs`, and
 * how long it takes to see the end of fifty of them.
 */
export async function manyWaits(waits: number, forMs: number) {
  const behind = await HappyService.start({ ageMs: 3_600_000 });
  const env = { ...foldersIn(folderWith()), RESEARCH_SERVE_API_KEY: KEY };
  await addProfile(env, "behind", behind.url, UPSTREAM_KEY);
  const { one, baseUrl } = await serving(env, "--data", folderWith(), "--upstream", "behind");
  const ids: string[] = [];
  for (let n = 0; n < waits; n++) {
    const { json } = await post(baseUrl, "/api/v1/conversations", KEY, {
      prompt: `${n} => PENDING PROCESSING`,
    });
    ids.push(String(json.data?.request_id));
  }
  const conversations = () => [...behind.conversations.values()];
  await until(async () => conversations().every(({ polls }) => polls > 1) || undefined, 600_000);
  const before = processorMs(one.pid);
  await delay(forMs);
  const processorShare = (processorMs(one.pid) - before) / forMs;
  const status = readFileSync(`/proc/${one.pid}/status`, "utf8");
  const residentMiB = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  const ended = performance.now();
  const ending = conversations().filter((_, n) => n % (waits / 50) === 0);
  for (const conversation of ending) conversation.timeline = ["COMPLETED"];
  const prompts = new Set(ending.map(({ prompt }) => Number.parseInt(prompt, 10)));
  for (const n of prompts)
    await until(async () => {
      const { json } = await ask(baseUrl, { path: `/api/v1/conversation/${ids[n]}/status`, key: KEY });
      return json.data?.status === "COMPLETED" || undefined;
    }, 240_000);
  const latestEndMs = Math.round(performance.now() - ended);
  one.signal("SIGKILL");
  await one.done;
  await behind.server.close();
  return { residentMiB, processorShare, latestEndMs };
}

/**
 * Stops a conversation while the service behind takes connections and never answers, for `silentMs` with a restart in
 * between, and says how long after its return it is stopped there, and how long the process took to end meanwhile, ms.
 */
export async function stopInSilence(silentMs: number) {
  let isSilent = false;
  const behind = await HappyService.start({ fault: () => (isSilent ? hang() : undefined) });
  const env = { ...foldersIn(folderWith()), RESEARCH_SERVE_API_KEY: KEY };
  await addProfile(env, "behind", behind.url, UPSTREAM_KEY);
  const data = folderWith();
  const serve = () => serving(env, "--data", data, "--upstream", "behind");
  const first = await serve();
  const created = await post(first.baseUrl, "/api/v1/conversations", KEY, { prompt: "why? => PROCESSING" });
  await until(async () => behind.server.count("status") > 0 || undefined, 60_000);
  isSilent = true;
  await post(first.baseUrl, `/api/v1/conversation/${created.json.data?.request_id}/stop`, KEY);
  await delay(silentMs / 2);
  const closing = performance.now();
  first.one.signal("SIGTERM");
  await first.one.done;
  const closedMs = Math.round(performance.now() - closing);
  const second = await serve();
  await delay(silentMs / 2);
  isSilent = false;
  const back = performance.now();
  const there = [...behind.conversations.values()][0];
  await until(async () => there?.timeline.join() === "STOPPED" || undefined, 120_000);
  const stoppedMs = Math.round(performance.now() - back);
  second.one.signal("SIGKILL");
  await second.one.done;
  await behind.server.close();
  return { stoppedMs, closedMs, posts: behind.server.count("create") };
}

/** What a process has taken of all processors, ms; a tick is 10 ms. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const at = (operation: string, moment: Passing["moment"], nth = 1): Passing => ({ operation, moment, nth });
const MOMENTS = ["sent", "answered", "read"] as const;

/** The moments of a conversation that runs to its end, and of one that is stopped, at the service behind. */
export const POINTS = {
  runs: [
    ...MOMENTS.map((moment) => at("create", moment)),
    ...MOMENTS.map((moment) => at("status", moment)),
    // The one that says COMPLETED.
    ...MOMENTS.map((moment) => at("status", moment, 3)),
    ...MOMENTS.map((moment) => at("output", moment)),
  ],
  stops: MOMENTS.map((moment) => at("stop", moment)),
};

const lost = (statement: string) => (["statement", "answer"] as const).map((what) => ({ statement, what }));

/** The statements of the same, in PostgreSQL. */
export const STATEMENTS = {
  runs: [...lost("begin-remote"), ...lost("keep-remote"), ...lost("end")],
  stops: [...lost("stop"), ...lost("take-cancellation"), ...lost("cancelled")],
};

export function nameOf(point: Point): string {
  return "statement" in point
    ? `${point.what} of ${point.statement} lost`
    : `${point.operation} ${point.nth} ${point.moment}`;
}

/** The service behind refuses a question of this length, in words that stand in it too. */
const BAD = "no answer to this";
const BAD_BYTES = 5_000;

/** What the conversation of that number costs there, and the dollars that the second key may spend. */
const dollarsOf = (prompt: string) => ((Number.parseInt(prompt, 10) % 7) + 1) / 100;
const MOST_DOLLARS = 0.07;
const BOB_DOLLARS = (conversations: number) => (conversations / 2) * 0.04 * 0.5;

/** A key as `serve keys list --json` has it. */
interface KeyUsed {
  name: string;
  running: number;
  dollars_used: { said: number };
}

/** Of a worker: another one takes its place, or it is suspended past its lease; of the database. */
export type Outage = "takeover" | "suspension" | "lease lost" | "restart";

/**
 * Has `conversations` of two keys in turn researched by a service behind that answers this share of requests wrongly, while
 * what `outageAt` says of each befalls two workers at one database, and one in 20 is stopped; the dollars of the second key
 * are for half of its own. Says what is wrong after all have ended. A restart needs the server.
 */
export async function faulty(
  {
    conversations,
    share,
    outageAt,
  }: {
    conversations: number;
    share: number;
    outageAt: (nth: number) => Outage | undefined;
  },
  {
    database,
    server,
    random,
  }: { database: string; server: PostgresServer | undefined; random: () => number },
) {
  const wrongCreates = [
    () => refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 1 }),
    () => html(404),
    () => html(403),
    () => answer({ status: 503, body: "" }),
    () => reset(),
  ];
  const behind = await HappyService.start({
    dollars: dollarsOf,
    fault: (operation, _nth, { headers }) => {
      if (operation === "create" && Number(headers["content-length"]) > BAD_BYTES)
        return refuse(400, "VALIDATION_ERROR", {}, BAD);
      if (random() >= share) return undefined;
      if (operation !== "create") return random() < 0.5 ? refuse(404, "REQUEST_NOT_FOUND") : html(503);
      return wrongCreates[Math.floor(random() * wrongCreates.length)]?.();
    },
  });
  const proxy = new PostgresProxy(database);
  const env = { ...foldersIn(folderWith()), RESEARCH_SERVE_DATABASE: proxy.url };
  await addProfile(env, "behind", behind.url, UPSTREAM_KEY);
  const added = async (name: string, ...more: string[]) => {
    const limits = ["--tier", "enterprise", "--creates-per-hour", "1000000", "--stops-per-hour", "1000000"];
    const { stdout } = await research(["serve", "keys", "add", name, ...limits, ...more], { env });
    return stdout.trim();
  };
  const dollars = BOB_DOLLARS(conversations);
  const keys = [
    await added("alice"),
    await added("bob", "--at-once", "4", "--dollars", `${dollars.toFixed(2)}/1d`),
  ];
  const { api, worker } = await leasing(env);
  const workers = [await worker(), await worker()];
  const ids: string[] = [];
  const refused: string[] = [];
  let [stops, overBudget, last] = [0, 0, ""];
  let outages = 0;
  for (let n = 0; n < conversations; n++) {
    const prompt =
      n % 50 === 49
        ? `${n} ${BAD} ${"x".repeat(BAD_BYTES)}`
        : `${n} => PENDING PROCESSING PROCESSING COMPLETED`;
    const key = keys[n % 2] as string;
    for (;;) {
      const { status, json } = await post(api.baseUrl, "/api/v1/conversations", key, { prompt });
      const why = String(json.error?.message);
      if (status === 200) ids.push(String(json.data?.request_id));
      else if (why.startsWith("The budget of this key is")) overBudget += 1;
      else refused.push(why);
      if (n % 20 === 4) last = String(json.data?.request_id);
      if (status === 200 || why.startsWith("The budget of this key is")) break;
      await delay(2_000);
    }
    if (n % 20 === 7) {
      await delay(random() * 500);
      const { status } = await post(api.baseUrl, `/api/v1/conversation/${last}/stop`, keys[0] as string);
      if (status === 200) stops += 1;
    }
    const victim = workers[n % 2] ?? api;
    const outage = outageAt(n);
    if (outage !== undefined) outages += 1;
    if (outage === "takeover") {
      victim.one.signal("SIGKILL");
      workers[n % 2] = await worker();
    } else if (outage === "suspension") {
      victim.one.signal("SIGSTOP");
      void delay(2 * LEASE_MS).then(() => victim.one.signal("SIGCONT"));
    } else if (outage === "lease lost") {
      await proxy.away();
      await delay(LEASE_MS * (1 + random()));
      proxy.back();
    } else if (outage === "restart") {
      await server?.stop(random() < 0.5 ? "fast" : "immediate");
      await server?.start();
    }
    await until(async () => (await ask(api.baseUrl, { path: "/ready" })).status === 200 || undefined, 60_000);
    await delay(random() * 60);
  }
  const usedUp = await until(async () => {
    const { stdout } = await research(["serve", "keys", "list", "--json"], { env });
    const bob = (JSON.parse(stdout) as KeyUsed[]).find(({ name }) => name === "bob");
    return bob?.running === 0 ? bob.dollars_used.said : undefined;
  }, 600_000);
  // What still waits for dollars begins now.
  await research(["serve", "keys", "set", "bob", "--dollars", "none"], { env });
  const unfinished = "SELECT FROM research.conversations WHERE completed_at IS NULL";
  await until(async () => (await query(database, unfinished)).length === 0 || undefined, 600_000);
  const rows = await query(
    database,
    `SELECT request_id, status, reason, coalesce(job, ended_job) AS job, remote_id, name
    FROM research.conversations JOIN research.keys ON id = key`,
  );
  const { stdout } = await research(["serve", "keys", "spent", "--json"], { env });
  const sums = (JSON.parse(stdout) as { key: string; dollars: number; failed: number }[]).map((own) => {
    const rowsOf = rows.filter(({ name }) => name === own.key);
    const paidRows = rowsOf.filter(({ remote_id, status }) => remote_id !== null && status === "COMPLETED");
    const cents = paidRows.reduce(
      (sum, { remote_id }) =>
        sum + Math.round(100 * dollarsOf(behind.conversations.get(remote_id)?.prompt ?? "")),
      0,
    );
    const failed = rowsOf.filter(({ status }) => status === "FAILED").length;
    return { name: own.key, own: [own.dollars, own.failed], there: [cents / 100, failed] };
  });
  for (const { one } of [api, ...workers]) one.signal("SIGKILL");
  const there = new Map<string, number>();
  for (const { prompt } of behind.conversations.values()) there.set(prompt, (there.get(prompt) ?? 0) + 1);
  const doubled = [...there].filter(([, count]) => count > 1).map(([prompt]) => prompt);
  const failed = rows.filter(({ status }) => status === "FAILED");
  const isUnknown = ({ reason }: { reason?: string }) =>
    String(reason).includes("It is not known whether it exists");
  const isBad = ({ job }: { job?: string }) => String(job).includes(BAD);
  const states = Object.fromEntries(
    ["COMPLETED", "FAILED", "STOPPED"].map((status) => [
      status,
      rows.filter((row) => row.status === status).length,
    ]),
  );
  await behind.server.close();
  return {
    figures: {
      ...{ conversations: ids.length, stops, outages, ...states, refused429: refused.length, overBudget },
      ...{ sums, dollars, usedUp },
      ...{ unknown: failed.filter(isUnknown).length, bad: failed.filter(isBad).length },
      posts: behind.server.count("create"),
    },
    wrong: [
      ...sums
        .filter(({ own, there }) => `${own}` !== `${there}`)
        .map(({ name, own, there }) => `${name} has spent ${own}, and there ${there}`),
      ...(sums.length === 2 ? [] : ["a key has no sum"]),
      ...(usedUp <= dollars + MOST_DOLLARS ? [] : [`bob has spent ${usedUp} of ${dollars}`]),
      ...doubled.map((prompt) => `doubled: ${prompt}`),
      ...failed
        .filter((row) => !isUnknown(row) && !isBad(row))
        .map(({ reason, job }) => `FAILED: ${reason} ${job}`),
      ...refused
        .filter((message) => message.includes(BAD))
        .map((message) => `refused for another's words: ${message}`),
      ...(rows.length === ids.length ? [] : [`${rows.length} of ${ids.length} are there`]),
    ],
  };
}
