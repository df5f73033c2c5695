import type { ClientBase } from "pg";
import { ServiceStartError } from "../start-error.js";
import step1 from "./migrations/1.sql?raw";

/** One step of the schema. */
export interface Migration {
  version: number;
  /**
   * The oldest program, by the version it was written for, that works on this schema. A step that only adds keeps
   * the number of the step before: then programs of both versions run side by side while they are replaced.
   */
  oldestProgram: number;
  sql: string;
}

/**
 * The schema, oldest step first. A step that was released is never changed. `job` is there until the end of a
 * conversation: what has one is unfinished, and what has one and no worker is the queue; then it is `ended_job`.
 * `claims` only grows, so that it tells one claim from every other; `starts` does not count what was given back. Texts
 * of clients are JSON, because PostgreSQL's text cannot hold U+0000.
 */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, oldestProgram: 1, sql: step1 }];

/** One number for the whole product: who holds this lock changes the schema. */
const LOCK = 7_236_914_551;

/** PostgreSQL's own form of a version: 150004 is 15.4. */
const OLDEST_SERVER = 150_000;

/** Brings the schema up to date, also in several processes at once. Throws ServiceStartError for an unfit one. */
export async function migrate(client: ClientBase, migrations = MIGRATIONS): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int AS number");
  if (rows[0].number < OLDEST_SERVER) {
    const major = Math.floor(rows[0].number / 10_000);
    throw createUnusableError(`The database runs on PostgreSQL ${major}; PostgreSQL 15 or later is needed.`);
  }
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await bringUp(client, migrations);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function bringUp(client: ClientBase, migrations: readonly Migration[]): Promise<void> {
  // Tables of schemas that were replaced before they were released.
  const { rows } = await client.query(
    "SELECT coalesce(to_regclass('research.windows'), to_regclass('research.spent')) IS NOT NULL AS yes",
  );
  if (rows[0].yes) {
    throw createUnusableError(
      "The database holds the schema of a program before the first release, which this one does not read. " +
        "Name an empty database, or drop the schema `research`, which deletes all its data.",
    );
  }
  const newestVersion = migrations.at(-1)?.version ?? 0;
  const { version, oldestProgram } = await readSchema(client);
  if (oldestProgram > newestVersion) {
    throw createUnusableError(
      `The database holds schema version ${version}, and this program knows version ${newestVersion}. ` +
        "Install the version of research-cli that the other processes run.",
    );
  }
  for (const step of migrations.filter((migration) => migration.version > version)) {
    await client.query(step.sql);
    await client.query("DELETE FROM research.schema");
    await client.query("INSERT INTO research.schema VALUES ($1, $2)", [step.version, step.oldestProgram]);
  }
}

/** The version that the database has; 0 if it is empty. A schema that has a table already is not made again. */
async function readSchema(client: ClientBase): Promise<{ version: number; oldestProgram: number }> {
  const there = await client.query("SELECT to_regclass('research.schema') IS NOT NULL AS yes");
  if (!there.rows[0].yes) {
    const schema = await client.query("SELECT to_regnamespace('research') IS NOT NULL AS yes");
    if (!schema.rows[0].yes) await client.query("CREATE SCHEMA research");
    await client.query("CREATE TABLE research.schema (version int NOT NULL, oldest_program int NOT NULL)");
  }
  const { rows } = await client.query("SELECT version, oldest_program FROM research.schema");
  return { version: rows[0]?.version ?? 0, oldestProgram: rows[0]?.oldest_program ?? 0 };
}

function createUnusableError(message: string): ServiceStartError {
  return new ServiceStartError(message);
}
