import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fillTeam, keyOf } from "../../../bench/support/team.js";
import { hashKey, shortenHash } from "../../../src/server/keys/key-store.js";
import { LEAST_CONNECTIONS } from "../../../src/server/postgres/database.js";
import type { PostgresStore } from "../../../src/server/postgres/postgres-store.js";
import { query, testPostgres } from "../../support/postgres.js";
import { callerOf, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { until } from "../../support/service.js";

// No vacuum may come between: the pages that it changes are read again.
const { postgres, newDatabase } = await testPostgres([
  "shared_preload_libraries=pg_stat_statements",
  "autovacuum=off",
]);

const KEYS = { keys: 4, limited: 2 };
/**
 * What is added to the table before each measurement: first nearly all rows wait, some hundred of each key, which a planner
 * may sort; then the table is small, then twice as large.
 */
const GROWTH = {
  waiting: { ...KEYS, ended: 100, waiting: 2_000 },
  small: { ...KEYS, ended: 4_900, waiting: 500 },
  large: { ...KEYS, ended: 5_000, waiting: 2_500 },
};

/**
 * How many pages more a statement may read in a larger table: those of one more level of an index, or of up to 1,000 entries
 * of it where the smaller table has fewer.
 */
const MORE_PAGES = 12;

const never = new AbortController().signal;
const limits = { create: 1_000_000, stop: 1_000_000 };
const none = { create: 0, stop: 0 };
/** Nothing is as old: what is deleted is read. */
const OLD_MS = 61 * 86_400_000;
const ANSWERED = [() => true, () => undefined] as const;
/** Renewals of leases come by the clock, so none may come into a measurement. */
const LONG_LEASE_MS = 3_600_000;
const place = { at: "https://there.example", provider: "there", canStop: true };

/** Does everything that a service does with its database, and a worker's part for another service. */
async function serve({ api, worker }: Record<"api" | "worker", PostgresStore>, ended: string) {
  const limited = { ...callerOf(keyOf(1), 1_000_000), budgets: { atOnce: 1_000_000 } };
  const [first, second] = [newJob(), newJob()];
  await api.create(limited, first);
  await api.create(callerOf("single"), second);
  for (const id of [first.request_id, ended]) await api.get(limited, id);
  await api.output(limited, ended);
  for (const id of [first.request_id, ended]) await api.stop(limited, id);
  await api.stop({ ...callerOf("single"), limits: none }, second.request_id);
  await api.create({ ...callerOf("single"), limits: none }, newJob());
  await api.create({ ...limited, limits: none, budgets: { dollars: { most: 1, ms: 1 } } }, newJob());
  await api.readCounts();
  // It has a second to answer.
  await until(() => api.checkReady().then(...ANSWERED));
  await api.agreeOn("{}");
  await worker.declareResearch({ model: "m" });
  await look(api, ended);
  await changeKeys(api);
  const claim = await worker.claim(never);
  await worker.tell(claim, "{}");
  await worker.exchanges.append(claim.job.request_id, {} as never);
  await worker.exchanges.read(claim.job.request_id);
  await worker.end(claim, { status: "COMPLETED", output: "1", data: '{"cost_dollars":0.1}' });
  await worker.returnClaim(await worker.claim(never));
  await sendOn(worker);
}

/** What the page and `serve keys` show. */
async function look({ overview, keys }: PostgresStore, ended: string): Promise<void> {
  await overview.countStates();
  await overview.listNewest(50);
  await overview.listNewest(50, "FAILED");
  await overview.find(ended);
  await overview.findJob(ended);
  await overview.use(await keys.list());
  for (const by of ["key", "day", "model"] as const)
    for (const ms of [30 * 86_400_000, undefined]) await overview.listSpent(by, ms);
}

async function changeKeys({ keys }: PostgresStore): Promise<void> {
  const hash = hashKey(newJob().request_id);
  await keys.add({ id: shortenHash(hash), name: "new", hash, tier: "enterprise", limits, createdAt: 0 });
  await keys.set("new", { atOnce: 1 });
  await keys.revoke("new", 1);
}

/** What a worker hears when it listens again: it compares its claims with the database at once, not at the next renewal. */
const LISTENS_AGAIN = "NOTIFY research, 'connected'";

/** A claim that the database does not know, and one that the worker does not know. */
async function loseClaims(url: string, worker: PostgresStore): Promise<void> {
  const claim = await worker.claim(never);
  const lost = once(claim.signal, "abort");
  const { request_id } = claim.job;
  await query(url, "UPDATE research.conversations SET worker = NULL WHERE request_id = $1", [request_id]);
  await query(url, LISTENS_AGAIN);
  await lost;
  const [waiting] = await query(
    url,
    `UPDATE research.conversations SET worker = (SELECT id FROM research.processes WHERE role = 'all')
    WHERE request_id = (SELECT request_id FROM research.conversations WHERE status = 'PENDING' LIMIT 1) RETURNING request_id`,
  );
  await query(url, LISTENS_AGAIN);
  const given = "SELECT FROM research.conversations WHERE request_id = $1 AND worker IS NULL";
  await until(async () => (await query(url, given, [waiting?.request_id])).length > 0 || undefined);
}

async function sendOn(worker: PostgresStore): Promise<void> {
  const { overview, remote } = worker;
  const sent = async (day?: { account: string; most: number }) => {
    const claim = await remote.claim("new", never);
    await remote.begin(claim, place, day);
    return claim;
  };
  const kept = await sent({ account: "a", most: 1_000_000 });
  await remote.read(kept.job.request_id);
  await remote.keep(kept, `there-${kept.job.request_id}`);
  await worker.returnClaim(kept);
  const { request_id } = (await remote.claim("begun", never)).job;
  await worker.stop(callerOf((await overview.find(request_id))?.conversation.keyId), request_id);
  const cancellation = await remote.takeCancellation(place.at, 0);
  await remote.noteCancelled(cancellation?.requestId ?? "");
  const refused = await sent();
  await remote.noteAnswered(refused, { kind: "limit", reason: "slow down", atOnce: 1_000, retryAfterMs: 0 });
  await remote.findRefusal(keyOf(1));
  await remote.release(refused, "a reason");
  const taken = await sent();
  await remote.noteAnswered(taken, { kind: "open", isRefused: true });
  await worker.returnClaim(taken);
  await remote.takeLost();
  await remote.expire();
}

/** What was counted of each statement until now, with the functions that it calls, by its text. */
type Statistics = Map<string, { calls: number; pages: number }>;

async function statistics(client: pg.Client): Promise<Statistics> {
  const { rows } = await client.query(
    `SELECT query, calls::int, (shared_blks_hit + shared_blks_read)::int AS pages FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return new Map(rows.map(({ query, ...figures }) => [plain(query), figures]));
}

interface Team {
  url: string;
  client: pg.Client;
  api: PostgresStore;
  worker: PostgresStore;
}

/** How many pages each statement reads on average with so many rows more, by its text. */
async function pagesAfter(
  growth: Parameters<typeof fillTeam>[1],
  { url, client, api, worker }: Team,
): Promise<Map<string, number>> {
  await fillTeam(client, growth);
  const { rows: ended } = await client.query(
    "SELECT request_id FROM research.conversations WHERE completed_at IS NOT NULL LIMIT 2",
  );
  // The first round plans each statement, and finds what the fill has left behind.
  let before: Statistics = new Map();
  for (const { request_id } of ended) {
    if (request_id === ended[1].request_id) before = await statistics(client);
    await serve({ api, worker }, request_id);
  }
  await loseClaims(url, worker);
  // Each time on a new connection.
  for (let n = 0; n < 2; n++) await worker.deleteEnded(OLD_MS);
  return readPages(await statistics(client), before);
}

/** How many pages each statement has read on average since `before`, by its text. */
function readPages(now: Statistics, before: Statistics): Map<string, number> {
  const pages = [...now].map(([text, { calls, pages }]) => {
    const { calls: callsBefore = 0, pages: pagesBefore = 0 } = before.get(text) ?? {};
    return [text, (pages - pagesBefore) / Math.max(1, calls - callsBefore)] as const;
  });
  return new Map(pages);
}

/** An API and a worker with few connections at a database whose statements are counted. */
async function openTeam(url: string): Promise<Team> {
  // One connection for all statements: another one would read the catalog anew.
  const connections = LEAST_CONNECTIONS;
  const api = await storeAt(url, { role: "api", connections, leaseMs: LONG_LEASE_MS });
  const worker = await storeAt(url, { connections, leaseMs: LONG_LEASE_MS });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE EXTENSION pg_stat_statements");
  return { url, client, api, worker };
}

/** A statement without its constants, which are parameters in the statistics. */
const plain = (text: string) =>
  text
    .replace(
      /'[^']*'|\$\d+|\b\d+(?:e\d+)?\b|(?<!IS |NOT )\bNULL\b|\b(?:true|false)\b|(?<=extract\()epoch/g,
      "?",
    )
    .replace(/\s+/g, " ")
    .trim();

/** A statement up to the first part that is put in, or to the constant with that part in it. */
function beginningOf(text: string): string {
  const [beginning = ""] = text.split("${");
  return beginning.split("'").length % 2 === 1 ? beginning : beginning.slice(0, beginning.lastIndexOf("'"));
}

/** The beginnings of the statements in the sources by their names. */
function statementsInSources(): Map<string, string> {
  const folder = join(import.meta.dirname, "../../../src/server/postgres");
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8"));
  const matches = texts.flatMap((text) => [...text.matchAll(/ = defineSql\(\s*"([\w-]+)",?\s*\)`([^`]*)`/g)]);
  return new Map(matches.map(([, name = "", text = ""]) => [name, plain(beginningOf(text))]));
}

describe.skipIf(!postgres)("statements (need PostgreSQL with pg_stat_statements)", () => {
  let small: Map<string, number>;
  let waiting: typeof small;
  let large: typeof small;
  let texts: string[];
  beforeAll(async () => {
    const url = await newDatabase();
    const team = await openTeam(url);
    const { client } = team;
    waiting = await pagesAfter(GROWTH.waiting, team);
    small = await pagesAfter(GROWTH.small, team);
    large = await pagesAfter(GROWTH.large, team);
    await storeAt(url, { connections: LEAST_CONNECTIONS, leaseMs: 30 });
    const hasRenewed = (text: string) => text.startsWith("UPDATE research.processes SET expires_at");
    await until(async () => [...(await statistics(client)).keys()].find(hasRenewed));
    await closeStores();
    texts = [...(await statistics(client)).keys()];
    await client.end();
  }, 600_000);
  afterAll(closeStores);

  it("all ran", () => {
    const statements = [...statementsInSources()];
    expect(statements.length).toBeGreaterThan(40);
    const missing = statements.filter(([, beginning]) => !texts.some((text) => text.startsWith(beginning)));
    expect(missing).toEqual([]);
  });

  it("none reads in proportion to the table", () => {
    const read = [...waiting, ...large].map(([text, pages]) => ({
      ...{ text, pages, before: small.get(text) ?? 0 },
    }));
    const grown = read.filter(({ pages, before }) => pages > before * 1.25 + MORE_PAGES);
    expect(grown).toEqual([]);
  });
});

describe.skipIf(!postgres)("statements of a new database (need PostgreSQL with pg_stat_statements)", () => {
  afterAll(closeStores);

  it("none keeps a plan that reads a table whole, made before the first ANALYZE while the table was small", async () => {
    const url = await newDatabase();
    const team = await openTeam(url);
    const { client, worker } = team;
    onTestFinished(() => client.end());
    await fillTeam(client, { ...KEYS, ended: 20, waiting: 20 });
    // A database that was never analyzed: PostgreSQL takes each table for a small one.
    await client.query(
      `CREATE TABLE copy AS SELECT * FROM research.conversations; TRUNCATE research.conversations CASCADE;
      INSERT INTO research.conversations SELECT * FROM copy`,
    );
    const pagesOf = async () => {
      const { rows } = await client.query(
        "SELECT request_id FROM research.conversations WHERE completed_at < now() - interval '1 hour' LIMIT 2",
      );
      let before: Statistics = new Map();
      for (const { request_id } of rows) {
        before = await statistics(client);
        await serve(team, request_id);
      }
      await worker.deleteEnded(OLD_MS);
      return readPages(await statistics(client), before);
    };
    // Each session makes its plans.
    await pagesOf();
    await client.query(
      `INSERT INTO research.conversations
      SELECT (jsonb_populate_record(c, jsonb_build_object('request_id', id, 'job', replace(job, request_id::text, id::text)))).*
      FROM research.conversations AS c, generate_series(1, 400) AS n, LATERAL (SELECT md5(request_id::text || n)::uuid AS id) AS new
      WHERE c.worker IS NULL AND c.remote IS NULL`,
    );
    await client.query("SELECT research.recount()");
    const kept = await pagesOf();
    // Now each session makes its plans again.
    await client.query("ANALYZE");
    const read = [...(await pagesOf())].map(([text, pages]) => ({ text, pages, kept: kept.get(text) ?? 0 }));
    expect(read.filter(({ pages, kept }) => kept > pages * 1.25 + MORE_PAGES)).toEqual([]);
  });
});
