// The service of a company at PostgreSQL: what a claim, a create, a status and the page take of PostgreSQL with up to two
// million conversations, in processor time and pages, which other work on the machine does not change.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { background, treeSeconds, usage } from "./support/background.js";
import { sourceWithPackages } from "./support/source.js";
import { fillTeam, keyOf } from "./support/team.js";

/**
 * @typedef {import("./postgres.js").Result} Result
 * @typedef {import("./support/team.js").Team} Team
 */

const SETTINGS = ["shared_preload_libraries=pg_stat_statements", "autovacuum=off", "fsync=on"];
const DAY_MS = 86_400_000;
const never = new AbortController().signal;
const callerOf = (/** @type {string} */ keyId) => ({
  keyId,
  limits: { create: 1e6, stop: 1e6 },
  ownOnly: true,
});

/**
 * `share`: of the rows of the whole measurement. None if there is no PostgreSQL here.
 * @param {number} share
 * @returns {Promise<[string, Result][]>}
 */
export async function teamRows(share) {
  return atServer((server) => figures(server, share));
}

/**
 * The same of one database with so many conversations that have ended, 40,000 that wait, and 25 of 100 keys limited. Says
 * on stderr how long its rows, their indexes and `research.recount` took, and how large they are.
 * @param {number} ended
 * @returns {Promise<[string, Result][]>}
 */
export async function sizeRows(ended) {
  const team = { keys: 100, limited: 25, ended, waiting: 40_000 };
  return atServer(async (server) =>
    lookRows(await looks(server, team, 1, (line) => process.stderr.write(`${line}\n`)), team, 1),
  );
}

/** @param {(server: Measured) => Promise<[string, Result][]>} measure @returns {Promise<[string, Result][]>} */
async function atServer(measure) {
  const { testPostgres } = await sourceWithPackages("test/support/postgres.ts");
  const { postgres, newDatabase } = await testPostgres(SETTINGS);
  if (postgres?.server === undefined) return [];
  const stores = await sourceWithPackages("test/support/postgres-store.ts");
  try {
    return await measure(new Measured(postgres.server.pid, newDatabase, stores));
  } finally {
    postgres.server.kill();
  }
}

/** A server whose cost is measured, and the stores at it. */
class Measured {
  /**
   * @param {number} pid of the server
   * @param {() => Promise<string>} newDatabase
   * @param {Record<string, any>} stores
   */
  constructor(pid, newDatabase, stores) {
    this.pid = pid;
    this.newDatabase = newDatabase;
    this.stores = stores;
  }

  /** A database with these rows. @param {Team} team */
  async filled(team) {
    const url = await this.newDatabase();
    await this.opened(url, { role: "api" });
    await this.stores.closeStores();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const times = await fillTeam(client, team, () => this.spent());
    await client.query("CREATE EXTENSION pg_stat_statements");
    return { url, client, times };
  }

  /** @param {string} url @param {Record<string, unknown>} [more] */
  opened(url, more = {}) {
    return this.stores.storeAt(url, { leaseMs: 3_600_000, ...more });
  }

  /** Processor ms of the connections that are open to the server: not of its vacuum, and not of its writers. */
  spent() {
    let ns = 0;
    for (const child of readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8").trim().split(" "))
      try {
        if (!readFileSync(`/proc/${child}/cmdline`, "utf8").includes("research ")) continue;
        ns += Number(readFileSync(`/proc/${child}/schedstat`, "utf8").split(" ")[0]);
      } catch {}
    return ns / 1e6;
  }

  /** Processor ms of each of `times` runs, the median of five. @param {() => Promise<unknown>} run */
  async cost(run, times = 1) {
    await run();
    const taken = [];
    for (let n = 0; n < 5; n++) {
      const before = this.spent();
      for (let i = 0; i < times; i++) await run();
      taken.push((this.spent() - before) / times);
    }
    return taken.sort((a, b) => a - b)[2] ?? 0;
  }
}

/** @param {Measured} server @param {number} share @returns {Promise<[string, Result][]>} */
async function figures(server, share) {
  const many = (/** @type {number} */ count) => Math.round(count * share);
  /** @type {Team} */
  const claims = { keys: 100, limited: 100, ended: many(100_000), waiting: many(100_000) };
  const alone = await claimCost(server, claims, 1);
  const eight = await claimCost(server, claims, 8);
  const few = await claimCost(server, { ...claims, limited: 25 }, 1);
  const million = await claimCost(server, { ...claims, limited: 25, waiting: many(1_000_000) }, 1);
  const words = (/** @type {number} */ count) => count.toLocaleString("en");
  const of = (/** @type {number} */ count) => words(many(count));
  /** @type {[string, Result][]} */
  const rows = [
    [`a claim, 100 keys all limited, ${of(100_000)} waiting, 1 worker`, atMost(alone, 3)],
    [`the same, 8 workers`, atMost(eight, 3)],
    [
      `a claim, 25 of 100 keys limited, ${of(1_000_000)} waiting / ${of(100_000)}`,
      atMost(million, 3, few, 1.5),
    ],
  ];
  const small = await looks(server, { ...claims, limited: 25, ended: many(160_000), waiting: many(40_000) });
  const team = { ...claims, limited: 25, ended: many(2_000_000), waiting: many(40_000) };
  const large = await looks(server, team, share);
  rows.push(...lookRows(large, team, share, small.pages));
  return [...rows, ["12 waiting workers for a conversation / one", await wakeUps(server)]];
}

/**
 * @param {Awaited<ReturnType<typeof looks>>} taken
 * @param {Team} team
 * @param {number} share
 * @param {number} [fewPages] those of a status at a tenth of the rows
 * @returns {[string, Result][]}
 */
function lookRows(taken, team, share, fewPages) {
  const words = (/** @type {number} */ count) => Math.round(count).toLocaleString("en");
  const total = words(team.ended + team.waiting);
  const recent = words((team.ended * 0.16) / 2);
  return [
    [`a claim, ${total} rows`, atMost(taken.claim, 3)],
    [
      `a create of a key with --dollars, ${recent} made in 30 days / of one without`,
      atMost(taken.budgeted, 3, taken.plain, 1.5),
    ],
    [
      `pages of a status of a PENDING one with its place, ${total} rows / ${words(200_000 * share)}`,
      pagesAtMost(taken.pages, 200, fewPages),
    ],
    [`the page, ${total} rows`, atMost(taken.page, 100)],
    [`\`keys list --json\`, ${total} rows`, atMost(taken.list, 100)],
    ["`keys spent --by key`", atMost(taken.spent.key, 100)],
    ["`keys spent --by day`", atMost(taken.spent.day, 100)],
    ["`keys spent --by model --since 30d`", atMost(taken.spent.model, 100)],
    [`a statement that deletes 500 of ${words(100_000 * share)} that are too old`, longest(taken.deletion)],
    [
      `a statement that expires 500 of ${words(team.waiting)} that have waited too long`,
      longest(taken.expiry),
    ],
  ];
}

/** Processor ms of a claim, by so many workers at once. @param {Measured} server @param {Team} team @param {number} workers */
async function claimCost(server, team, workers) {
  const { url, client } = await server.filled(team);
  const open = Array.from({ length: workers }, () => server.opened(url, { connections: 5 }));
  const stores = await Promise.all(open);
  const claim = (/** @type {number} */ times) =>
    Promise.all(
      stores.map(async (store) => {
        for (let n = 0; n < times; n++) await store.claim(never);
      }),
    );
  await claim(5);
  const taken = [];
  for (let n = 0; n < 5; n++) {
    const before = server.spent();
    await claim(10);
    taken.push((server.spent() - before) / (10 * workers));
  }
  await client.end();
  await server.stores.closeStores();
  return taken.sort((a, b) => a - b)[2] ?? 0;
}

/**
 * What is looked at, created, claimed and deleted in a database with these rows.
 * @param {Measured} server
 * @param {Team} team
 * @param {number} [share]
 * @param {(line: string) => void} [say]
 */
async function looks(server, team, share = 1, say = () => {}) {
  const { url, client, times } = await server.filled(team);
  const { rows: sizes } = await client.query(
    `SELECT pg_table_size('research.conversations')::float8 AS rows, pg_indexes_size('research.conversations')::float8 AS indexes,
      pg_total_relation_size('research.sums')::float8 AS sums, (SELECT count(*) FROM research.sums)::float8 AS "rows of sums"`,
  );
  for (const [what, value] of Object.entries(sizes[0] ?? {})) say(`${what}: ${value.toLocaleString("en")}`);
  for (const [what, ms] of Object.entries(times))
    say(`${what}: ${(ms / 1_000).toFixed(1)} s of the processor`);
  // One connection for all statements: another one would read the catalog anew.
  const store = await server.opened(url, { role: "api", connections: 4 });
  const { rows } = await client.query(
    `SELECT request_id FROM research.conversations WHERE key = $1 AND status = 'PENDING' ORDER BY due_at OFFSET $2 LIMIT 1`,
    [keyOf(2), Math.floor(team.waiting / team.keys / 2)],
  );
  const statistics = async (/** @type {string} */ expression) => {
    const own = "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())";
    const { rows } = await client.query(`SELECT ${expression} AS value FROM pg_stat_statements ${own}`);
    await client.query("SELECT pg_stat_statements_reset()");
    return Number(rows[0]?.value);
  };
  const status = () => store.get(callerOf(keyOf(2)), rows[0]?.request_id);
  await status();
  await sleep(1_000);
  await statistics("0");
  await status();
  const pages = await statistics("sum(shared_blks_hit + shared_blks_read)");
  const keys = await store.keys.list();
  const { overview } = store;
  const create = (/** @type {string} */ key) => () => store.create(callerOf(key), server.stores.newJob());
  const plain = await server.cost(create(keyOf(99)), 100);
  const budgeted = await server.cost(create(keyOf(1)), 100);
  const page = await server.cost(async () => {
    await Promise.all([
      overview.countStates(),
      overview.listNewest(200),
      overview.use(keys),
      overview.listSpent("key", 30 * DAY_MS),
    ]);
  });
  const list = await server.cost(() => overview.use(keys));
  const spent = {
    key: await server.cost(() => overview.listSpent("key")),
    day: await server.cost(() => overview.listSpent("day")),
    model: await server.cost(() => overview.listSpent("model", 30 * DAY_MS)),
  };
  const worker = await server.opened(url, { connections: 5 });
  const claim = await server.cost(() => worker.claim(never), 10);
  const batches = async (/** @type {() => Promise<unknown>} */ run) => {
    await statistics("0");
    const before = treeSeconds(server.pid);
    await run();
    const ms = (treeSeconds(server.pid) - before) * 1_000;
    const own = "query LIKE '%delete_ended%' OR query LIKE '%WITH expired%'";
    const { rows } = await client.query(
      `SELECT sum(calls)::int AS calls, max(max_exec_time) AS longest FROM pg_stat_statements WHERE ${own}`,
    );
    return { each: ms / rows[0]?.calls, longest: Number(rows[0]?.longest) };
  };
  const deletion = await batches(() =>
    store.deleteEnded((60 - (100_000 * share * 60) / team.ended) * DAY_MS),
  );
  await client.query(
    "UPDATE research.conversations SET created_at = created_at - interval '2 days' WHERE status = 'PENDING'",
  );
  const expiry = await batches(() => store.remote.expire());
  const beforeVacuum = server.spent();
  await client.query("VACUUM research.conversations");
  say(
    `VACUUM after the deletion: ${((server.spent() - beforeVacuum) / 1_000).toFixed(1)} s of the processor`,
  );
  await client.end();
  await server.stores.closeStores();
  return { claim, pages, plain, budgeted, page, list, spent, deletion, expiry };
}

/** Processor ms that a conversation takes of all workers and their connections, less what they take while idle. @param {Measured} server */
async function wakeUps(server) {
  const of = async (/** @type {number} */ count) => {
    const url = await server.newDatabase();
    const env = { RESEARCH_SERVE_API_KEY: "sk-bench", RESEARCH_SERVE_DATABASE: url };
    const program = join(import.meta.dirname, "../bin/research.js");
    const serve = (/** @type {string[]} */ ...args) =>
      background([program, "serve", "--port", "0", ...args], env);
    const api = serve("--role", "api");
    const base = await api.url();
    const workers = Array.from({ length: count }, () => serve("--role", "worker", "--answers", "sample"));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await Promise.all(workers.map((worker) => worker.url()));
      const headers = { authorization: "Bearer sk-bench", "content-type": "application/json" };
      const converse = async () => {
        await fetch(`${base}/api/v1/conversations`, { method: "POST", headers, body: '{"prompt":"why?"}' });
        await sleep(150);
      };
      const taken = () =>
        server.spent() + workers.reduce((sum, { pid }) => sum + usage(pid).cpuSeconds * 1_000, 0);
      for (let n = 0; n < 10; n++) await converse();
      const [idleFrom, idleMs] = [taken(), 6_000];
      await sleep(idleMs);
      const [before, begun] = [taken(), performance.now()];
      const idle = (before - idleFrom) / idleMs;
      for (let n = 0; n < 60; n++) await converse();
      return (taken() - before - idle * (performance.now() - begun)) / 60;
    } finally {
      await client.end();
      for (const one of [...workers, api]) await one.stop();
    }
  };
  return atMost(await of(12), Number.POSITIVE_INFINITY, await of(1), 3.5);
}

/** @param {number} ms @param {number} most @param {number} [baseline] @param {number} [mostRatio] @returns {Result} */
function atMost(ms, most, baseline, mostRatio) {
  return result({ value: ms, most, baseline, mostRatio, unit: "ms", digits: 2 });
}

/** Processor time counts; the longest one by the clock stands beside it. @param {{ each: number, longest: number }} taken @returns {Result} */
function longest({ each, longest }) {
  return { ...atMost(each, 1_000), baseline: `the longest by the clock: ${longest.toFixed(0)} ms` };
}

/** @param {number} pages @param {number} most @param {number} [baseline] @returns {Result} */
function pagesAtMost(pages, most, baseline) {
  return result({ value: pages, most, baseline, mostRatio: undefined, unit: "pages", digits: 0 });
}

/**
 * @param {{ value: number, most: number, baseline: number | undefined, mostRatio: number | undefined, unit: string, digits: number }} figure
 * @returns {Result}
 */
function result({ value, most, baseline, mostRatio, unit, digits }) {
  const text = (/** @type {number} */ one) => `${one.toFixed(digits)} ${unit}`;
  const ratio = baseline === undefined ? undefined : value / baseline;
  const goals = [Number.isFinite(most) && `≤ ${most} ${unit}`, mostRatio && `ratio ≤ ${mostRatio}`];
  return {
    figure: text(value),
    baseline: baseline === undefined ? "" : text(baseline),
    ratio: ratio?.toFixed(2) ?? "",
    goal: goals.filter(Boolean).join(", "),
    met: value <= most && (mostRatio === undefined || (ratio ?? 0) <= mostRatio),
  };
}
