#!/usr/bin/env node
// The service at PostgreSQL against PostgreSQL itself, and how soon one process learns what another one did. By
// itself it prints its rows; bench/run.js takes them into bench/RESULTS.md.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { background } from "./support/background.js";
import { summary } from "./support/process.js";
import { sourceWithPackages } from "./support/source.js";

/**
 * @typedef {{ figure: string, baseline: string, ratio: string, goal: string, met: boolean }} Result
 * @typedef {{ pairs: number, seconds: number }} Extent
 */

const program = join(import.meta.dirname, "../bin/research.js");
const support = (/** @type {string} */ name) => join(import.meta.dirname, "support", name);
const key = { RESEARCH_API_KEY: "sk-bench", RESEARCH_SERVE_API_KEY: "sk-bench" };
const headers = { authorization: `Bearer ${key.RESEARCH_API_KEY}`, "content-type": "application/json" };
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
  const postgres = await testPostgres(["fsync=on", "full_page_writes=on"]);
  if (postgres === undefined) return undefined;
  try {
    return await figures(postgres, extent);
  } finally {
    postgres.server?.kill();
  }
}

/**
 * @param {{ database(): Promise<string> }} postgres
 * @param {Extent} extent
 * @returns {Promise<[string, Result][]>}
 */
async function figures(postgres, extent) {
  return [
    ...(await rates(await postgres.database(), extent)),
    ["stop at one process to the command's death at another", await stops(await postgres.database(), extent)],
    [
      `takeover after \`kill -9\`, lease ${LEASE_SECONDS} s`,
      await takeovers(await postgres.database(), extent),
    ],
  ];
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
 * @param {string} database
 * @param {Extent} extent
 * @returns {Promise<[string, Result][]>}
 */
async function rates(database, { pairs, seconds }) {
  const apis = [serve(database, "api"), serve(database, "api")];
  try {
    const urls = await Promise.all(apis.map((api) => api.url()));
    const id = await create(urls[0] ?? "");
    const bare = async (/** @type {string} */ what) =>
      Number(await background([support("bare-sql.js"), database, what, String(seconds), id]).url());
    const load = async (
      /** @type {string} */ method,
      /** @type {string} */ path,
      /** @type {string[]} */ ...body
    ) => {
      const answers = urls.map((url) =>
        background([support("load.js"), method, url + path, String(seconds), ...body], key).url(),
      );
      return (await Promise.all(answers)).reduce((sum, text) => sum + Number(text), 0);
    };
    const creates = [];
    const asked = [];
    for (let i = -1; i < pairs; i++) {
      const pair = { ours: await load("POST", CREATE, '{"prompt":"why?"}'), bare: await bare("insert") };
      const other = {
        ours: await load("GET", `/api/v1/conversation/${id}/status`),
        bare: await bare("select"),
      };
      // The first round only warms up.
      if (i < 0) continue;
      creates.push(pair);
      asked.push(other);
    }
    return [
      ["creates a second, two APIs at PostgreSQL / bare INSERTs, 20 connections", rate(creates)],
      ["states a second, two APIs at PostgreSQL / bare SELECTs, 20 connections", rate(asked)],
    ];
  } finally {
    for (const api of apis) await api.stop();
  }
}

/**
 * @param {{ ours: number, bare: number }[]} taken
 * @returns {Result} the pair with the median ratio
 */
function rate(taken) {
  const sorted = [...taken].sort((x, y) => x.ours / x.bare - y.ours / y.bare);
  const { ours = 0, bare = 1 } = sorted[Math.floor(sorted.length / 2)] ?? {};
  const ratio = ours / bare;
  return {
    figure: `${ours.toFixed(0)} /s`,
    baseline: `${bare.toFixed(0)} /s`,
    ratio: ratio.toFixed(2),
    goal: "≥ 0.40",
    met: ratio >= 0.4,
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
      const id = await create(url);
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
      const id = await create(url);
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

/** @param {string} url */
async function create(url) {
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

if (process.argv[1] === import.meta.filename) {
  const quick = process.argv.includes("--quick");
  const rows = await postgresRows(quick ? { pairs: 3, seconds: 2 } : { pairs: 9, seconds: 4 });
  for (const [what, result] of rows ?? []) process.stdout.write(`${what}: ${JSON.stringify(result)}\n`);
}
