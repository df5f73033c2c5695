#!/usr/bin/env node
// The service at PostgreSQL against PostgreSQL itself, and how soon one process learns what another one did. `npm run
// bench -- postgres` prints the rows; without that word they go into bench/RESULTS.md.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { background, treeSeconds, usage } from "./support/background.js";
import { summary } from "./support/process.js";
import { sourceWithPackages } from "./support/source.js";

/**
 * @typedef {{ figure: string, baseline: string, ratio: string, goal: string, met: boolean }} Result
 * @typedef {{ pairs: number, seconds: number }} Extent `BENCH_BESIDE` may name a folder with another version, built, to compare with
 */

const program = join(import.meta.dirname, "../bin/research.js");
const support = (/** @type {string} */ name) => join(import.meta.dirname, "support", name);
const key = { RESEARCH_API_KEY: "sk-bench", RESEARCH_SERVE_API_KEY: "sk-bench" };
const headersOf = (/** @type {string} */ apiKey) => ({
  authorization: `Bearer ${apiKey}`,
  "content-type": "application/json",
});
const headers = headersOf(key.RESEARCH_API_KEY);
const CREATE = "/api/v1/conversations";
const LEASE_SECONDS = 6;

/**
 * Undefined if there is no PostgreSQL here.
 * @param {Extent} extent
 * @returns {Promise<[string, Result][] | undefined>}
 */
export async function postgresRows(extent) {
  const { testPostgres } = await sourceWithPackages("test/support/postgres.ts");
  // As in production: a commit is on the disk.
  const { postgres, newDatabase } = await testPostgres(["fsync=on", "full_page_writes=on"]);
  if (postgres === undefined) return undefined;
  try {
    return await figures(postgres.server, newDatabase, extent);
  } finally {
    postgres.server?.kill();
  }
}

/**
 * @param {{ pid: number } | undefined} postgres
 * @param {() => Promise<string>} newDatabase
 * @param {Extent} extent
 * @returns {Promise<[string, Result][]>}
 */
async function figures(postgres, newDatabase, extent) {
  const server = () => treeSeconds(postgres?.pid ?? 0);
  return [
    ...(await rates(await newDatabase(), server, extent)),
    ...(await addedKeys(await newDatabase(), server, extent)),
    ...(await versions(newDatabase, server, extent, process.env.BENCH_BESIDE)),
    ["stop at one process to the command's death at another", await stops(await newDatabase(), extent)],
    [`takeover after \`kill -9\`, lease ${LEASE_SECONDS} s`, await takeovers(await newDatabase(), extent)],
  ];
}

/**
 * Creates at two APIs of this version, and at two of another one with a database of its own.
 * @param {() => Promise<string>} newDatabase
 * @param {() => number} server
 * @param {Extent} extent
 * @param {string} [other]
 * @returns {Promise<[string, Result][]>}
 */
async function versions(newDatabase, server, { pairs, seconds }, other) {
  if (other === undefined) return [];
  /** @type {ReturnType<typeof background>[]} */
  const all = [];
  const loadAt = async (/** @type {string} */ folder) => {
    const env = { ...key, RESEARCH_SERVE_DATABASE: await newDatabase() };
    const args = [join(folder, "bin/research.js"), "serve", "--port", "0", "--role", "api"];
    const apis = [background(args, env), background(args, env)];
    all.push(...apis);
    const load = loadOf(apis, await Promise.all(apis.map((api) => api.url())), server, seconds);
    return () => load(key.RESEARCH_API_KEY);
  };
  try {
    const [ours, theirs] = [await loadAt(join(import.meta.dirname, "..")), await loadAt(other)];
    const taken = [];
    for (let n = -1; n < pairs; n++) {
      const pair = { ours: await ours(), bare: await theirs() };
      if (n >= 0) taken.push(pair);
    }
    return [["processor time of a create, APIs and PostgreSQL / of the version beside it", cost(taken, 0.9)]];
  } finally {
    for (const api of all) await api.stop();
  }
}

/**
 * @param {string} database
 * @param {string} role
 * @param {string[]} more
 */
function serve(database, role, ...more) {
  const args = [program, "serve", "--port", "0", "--role", role, ...more];
  return background(args, { ...key, RESEARCH_SERVE_DATABASE: database });
}

/**
 * @typedef {{ rate: number, cost: number, parts: string }} Taken operations a second, processor ms for each, and who took
 * them; the generator of the load is named, and is no part of the cost
 */

/**
 * @param {string} database
 * @param {() => number} server CPU seconds of PostgreSQL
 * @param {Extent} extent
 * @returns {Promise<[string, Result][]>}
 */
async function rates(database, server, { pairs, seconds }) {
  const apis = [serve(database, "api"), serve(database, "api")];
  try {
    const urls = await Promise.all(apis.map((api) => api.url()));
    const id = await create(urls[0] ?? "", key.RESEARCH_API_KEY);
    const bare = async (/** @type {string} */ what) => {
      const before = server();
      const args = [support("bare-sql.js"), database, what, String(seconds), id];
      const [rate = 0, client = 0] = (await background(args).url()).split(" ").map(Number);
      return taken(rate, seconds, { PostgreSQL: server() - before, client });
    };
    const load = loadOf(apis, urls, server, seconds);
    const pairsOf = async (/** @type {() => Promise<Pair>} */ pair) => {
      // The first one only warms up.
      await pair();
      const taken = [];
      for (let i = 0; i < pairs; i++) taken.push(await pair());
      return taken;
    };
    const reads = (/** @type {string} */ operation, /** @type {string} */ what) => async () => {
      const path = `/api/v1/conversation/${id}/${operation}`;
      return { ours: await load(key.RESEARCH_API_KEY, "GET", path), bare: await bare(what) };
    };
    await finish(database, id);
    // Reads come before creates, whose rows the server goes on to write and to vacuum.
    const asked = await pairsOf(reads("status", "select"));
    const read = await pairsOf(reads("output", "output"));
    const creates = await pairsOf(async () => ({
      ours: await load(key.RESEARCH_API_KEY),
      bare: await bare("insert"),
    }));
    return [
      ["creates a second, two APIs at PostgreSQL / bare INSERTs, 20 connections", rate(creates, 0.9)],
      [
        "processor time of a create, APIs and PostgreSQL / of a bare INSERT with its client",
        cost(creates, 1.4),
      ],
      ["states a second, two APIs at PostgreSQL / bare SELECTs, 20 connections", rate(asked, 0.75)],
      [
        "processor time of an output of 20 kB, APIs and PostgreSQL / of a bare SELECT with its client",
        cost(read, 2),
      ],
    ];
  } finally {
    for (const api of apis) await api.stop();
  }
}

/**
 * @param {ReturnType<typeof background>[]} apis
 * @param {string[]} urls
 * @param {() => number} server
 * @param {number} seconds
 */
function loadOf(apis, urls, server, seconds) {
  const ofApis = () => apis.reduce((sum, { pid }) => sum + usage(pid).cpuSeconds, 0);
  return async (/** @type {string} */ apiKey, method = "POST", path = CREATE) => {
    const before = { api: ofApis(), server: server() };
    const body = method === "POST" ? ['{"prompt":"why?"}'] : [];
    const answers = urls.map((url) => {
      const args = [support("load.js"), method, url + path, String(seconds), ...body];
      return background(args, { RESEARCH_API_KEY: apiKey }).url();
    });
    const loads = (await Promise.all(answers)).map((text) => text.split(" ").map(Number));
    const [rate = 0, generator = 0] = [0, 1].map((n) => loads.reduce((sum, load) => sum + (load[n] ?? 0), 0));
    return taken(rate, seconds, {
      API: ofApis() - before.api,
      PostgreSQL: server() - before.server,
      generator,
    });
  };
}

/**
 * Creates of added keys, which have an hourly limit: with 10,000 in the hour of one, and with none in that of the other.
 * @param {string} database
 * @param {() => number} server
 * @param {Extent} extent
 * @returns {Promise<[string, Result][]>}
 */
async function addedKeys(database, server, { pairs, seconds }) {
  const keys = { few: "", many: "" };
  for (const name of /** @type {const} */ (["few", "many"])) {
    const limits = ["--tier", "enterprise", "--creates-per-hour", "1000000", "--stops-per-hour", "1"];
    const args = [program, "serve", "keys", "add", name, "--database", database, ...limits];
    keys[name] = await background(args).url();
  }
  const apis = [1, 2].map(() =>
    background([program, "serve", "--port", "0", "--role", "api", "--database", database]),
  );
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    const urls = await Promise.all(apis.map((api) => api.url()));
    for (const apiKey of Object.values(keys)) await create(urls[0] ?? "", apiKey);
    const load = loadOf(apis, urls, server, seconds);
    const pairsTaken = [];
    for (let i = -1; i < pairs; i++) {
      await client.query(`
        DELETE FROM research.slots;
        UPDATE research.counters SET taken = 0;
        UPDATE research.counters SET taken = 10000 FROM research.keys WHERE id = key AND name = 'many';
        INSERT INTO research.slots SELECT id, 'create', n, now()
          FROM research.keys, generate_series(0, 9999) AS n WHERE name = 'many'`);
      const pair = { ours: await load(keys.many), bare: await load(keys.few) };
      if (i >= 0) pairsTaken.push(pair);
    }
    return [["creates of an added key with 10,000 in its hour / with none", rate(pairsTaken, 0.7)]];
  } finally {
    await client.end();
    for (const api of apis) await api.stop();
  }
}

/**
 * @param {number} rate
 * @param {number} seconds
 * @param {Record<string, number>} parts processor seconds of each
 * @returns {Taken}
 */
function taken(rate, seconds, parts) {
  const micros = Object.entries(parts).map(([who, spent]) => [who, (spent * 1e6) / (rate * seconds)]);
  const cost = micros.reduce((sum, [who, each]) => sum + (who === "generator" ? 0 : Number(each)), 0) / 1_000;
  return { rate, cost, parts: micros.map(([who, each]) => `${who} ${Number(each).toFixed(0)}`).join(", ") };
}

/**
 * Ends a conversation with an output of 20 kB of Markdown.
 * @param {string} database
 * @param {string} id
 */
async function finish(database, id) {
  const lines = Array.from(
    { length: 250 },
    (_, n) => `- "Line ${n}" of a report: ${(n * 7_919) % 1_000} units, é, and the words around it.`,
  );
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const end =
    "UPDATE research.conversations SET status = 'COMPLETED', output = $2, completed_at = now(), job = NULL";
  await client.query(`${end} WHERE request_id = $1`, [
    id,
    JSON.stringify(lines.join("\n").padEnd(20_000, "x")),
  ]);
  await client.end();
}

/** @typedef {{ ours: Taken, bare: Taken }} Pair */

/**
 * @param {Pair[]} taken
 * @param {(pair: Pair) => number} ratioOf
 * @returns {Pair} the one with the median ratio
 */
function median(taken, ratioOf) {
  const sorted = [...taken].sort((x, y) => ratioOf(x) - ratioOf(y));
  return (
    sorted[Math.floor(sorted.length / 2)] ?? {
      ours: { rate: 0, cost: 0, parts: "" },
      bare: { rate: 1, cost: 1, parts: "" },
    }
  );
}

/**
 * @param {Pair[]} taken
 * @param {number} goal at least
 * @returns {Result}
 */
function rate(taken, goal) {
  const { ours, bare } = median(taken, (pair) => pair.ours.rate / pair.bare.rate);
  const ratio = ours.rate / bare.rate;
  const [figure, baseline] = [ours, bare].map((one) => `${one.rate.toFixed(0)} /s; µs: ${one.parts}`);
  return {
    figure: figure ?? "",
    baseline: baseline ?? "",
    ratio: ratio.toFixed(2),
    goal: `≥ ${goal.toFixed(2)}`,
    met: ratio >= goal,
  };
}

/**
 * @param {Pair[]} taken
 * @param {number} goal at most
 * @returns {Result}
 */
function cost(taken, goal) {
  const { ours, bare } = median(taken, (pair) => pair.ours.cost / pair.bare.cost);
  const ratio = ours.cost / bare.cost;
  return {
    figure: `µs: ${ours.parts}`,
    baseline: `µs: ${bare.parts}`,
    ratio: ratio.toFixed(2),
    goal: `≤ ${goal.toFixed(2)}`,
    met: ratio <= goal,
  };
}

/**
 * @param {string} database
 * @param {Extent} extent
 */
async function stops(database, { pairs }) {
  const folder = mkdtempSync(join(tmpdir(), "research-bench-"));
  const file = join(folder, "pid");
  const researcher = `echo $$ > ${file}; exec sleep 300`;
  const [api, worker] = [serve(database, "api"), serve(database, "worker", "--researcher", researcher)];
  try {
    const url = await api.url();
    const taken = [];
    for (let i = -1; i < pairs; i++) {
      const id = await create(url, key.RESEARCH_API_KEY);
      const pid = await numberIn(file);
      const begun = performance.now();
      await fetch(`${url}/api/v1/conversation/${id}/stop`, { method: "POST", headers });
      while (lives(pid)) await sleep(1);
      if (i >= 0) taken.push(performance.now() - begun);
    }
    return times(taken, 50);
  } finally {
    await api.stop();
    await worker.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} database
 * @param {Extent} extent
 */
async function takeovers(database, { pairs }) {
  const folder = mkdtempSync(join(tmpdir(), "research-bench-"));
  const file = join(folder, "pid");
  const worker = () =>
    serve(
      database,
      "worker",
      "--lease",
      `${LEASE_SECONDS}s`,
      "--researcher",
      `echo $$ > ${file}; exec sleep 300`,
    );
  const api = serve(database, "api");
  let [first, second] = [worker(), worker()];
  try {
    const url = await api.url();
    const taken = [];
    for (let i = 0; i < Math.ceil(pairs / 3); i++) {
      const id = await create(url, key.RESEARCH_API_KEY);
      const pid = await numberIn(file);
      if (!(await isGroupOf(pid, first.pid))) [first, second] = [second, first];
      // Anywhere between two renewals.
      await sleep(Math.random() * 2_000);
      const begun = performance.now();
      await first.stop();
      await numberIn(file);
      taken.push(performance.now() - begun);
      await fetch(`${url}/api/v1/conversation/${id}/stop`, { method: "POST", headers });
      first = worker();
      await first.url();
    }
    return times(taken, (LEASE_SECONDS + 1) * 1_000);
  } finally {
    for (const process of [api, first, second]) await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {number[]} taken ms
 * @param {number} goal ms, for the median
 * @returns {Result}
 */
function times(taken, goal) {
  const { min, median, max } = summary(taken);
  const figure = `${median.toFixed(0)} ms (${min.toFixed(0)}–${max.toFixed(0)})`;
  return { figure, baseline: "", ratio: "", goal: `< ${goal} ms`, met: median < goal };
}

/**
 * @param {string} url
 * @param {string} apiKey
 */
async function create(url, apiKey) {
  const headers = headersOf(apiKey);
  const answer = await fetch(url + CREATE, { method: "POST", headers, body: '{"prompt":"why?"}' });
  const { data } = /** @type {{ data: { request_id: string } }} */ (await answer.json());
  return data.request_id;
}

/**
 * The number that a command writes to the file, which is gone then.
 * @param {string} file
 */
async function numberIn(file) {
  for (;;) {
    try {
      const text = readFileSync(file, "utf8");
      if (text.endsWith("\n")) {
        rmSync(file);
        return Number(text);
      }
    } catch {}
    await sleep(2);
  }
}

/** @param {number} pid */
function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * @param {number} pid
 * @param {number} parent
 */
async function isGroupOf(pid, parent) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
}
