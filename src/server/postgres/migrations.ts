import { hash } from "node:crypto";
import type { ClientBase } from "pg";
import { ServiceStartError } from "../start-error.js";
import step1 from "./migrations/1.sql?raw";

/** One step from a version of the schema to the next. */
export interface Migration {
  version: number;
  /**
   * The oldest version of the program that works with this schema. A step that only adds something keeps the number of
   * the step before, so that programs of both versions can run side by side during an upgrade.
   */
  oldestProgram: number;
  sql: string;
}

/**
 * The steps of the schema, oldest first. Never change a released step. A conversation has `job` until it ends: rows
 * with a job are unfinished, and those without a worker among them are the queue. At the end, `job` moves to
 * `ended_job`. `claims` only grows, so that it identifies a claim; `starts` does not count returned claims. Texts of
 * clients are stored as JSON, because PostgreSQL's text cannot contain U+0000.
 */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, oldestProgram: 1, sql: step1 }];

/** The number of the advisory lock for changes of the schema. */
const LOCK = 7_236_914_551;

/** The oldest supported version of PostgreSQL, as `server_version_num` writes it: 150004 is 15.4. */
const OLDEST_SERVER = 150_000;

/** Brings the schema up to date. Several processes may call it at once. Rejects with a ServiceStartError for an unusable schema. */
export async function migrateSchema(client: ClientBase, migrations = MIGRATIONS): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int AS number");
  if (rows[0].number < OLDEST_SERVER) {
    const major = Math.floor(rows[0].number / 10_000);
    throw new ServiceStartError(
      `The database runs on PostgreSQL ${major}; PostgreSQL 15 or later is needed.`,
    );
  }
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await applyMigrations(client, migrations);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function applyMigrations(client: ClientBase, migrations: readonly Migration[]): Promise<void> {
  const newestVersion = migrations.at(-1)?.version ?? 0;
  const { version, oldestProgram, digest } = await readSchemaVersion(client);
  const isOther = version > 0 && digest !== computeSchemaDigest(migrations, version);
  if (digest === null || (version <= newestVersion && isOther)) {
    throw new ServiceStartError(
      `The database's schema has version ${version}, but an unreleased build of research-cli made it differently, and this one cannot use it. ` +
        "Start that build again, name an empty database, or delete all its data with `DROP SCHEMA research CASCADE`.",
    );
  }
  if (oldestProgram > newestVersion) {
    throw new ServiceStartError(
      `The database holds schema version ${version}, and this program knows version ${newestVersion}. ` +
        "Install the version of research-cli that the other processes run.",
    );
  }
  for (const step of migrations.filter((migration) => migration.version > version)) {
    await client.query(step.sql);
    await client.query("DELETE FROM research.schema");
    const row = [step.version, step.oldestProgram, computeSchemaDigest(migrations, step.version)];
    await client.query("INSERT INTO research.schema VALUES ($1, $2, $3)", row);
  }
}

/** Computes a digest of the steps up to a version, which comments and white space do not change. */
function computeSchemaDigest(migrations: readonly Migration[], version: number): string {
  const steps = migrations.filter((step) => step.version <= version);
  const text = steps.map(({ sql }) => sql.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim()).join("\n");
  return hash("sha256", text);
}

/**
 * Reads the version of the schema; 0 for an empty database. Creates the schema only if it does not exist. `digest` is null
 * if the table has no such column, as those of unreleased builds.
 */
async function readSchemaVersion(
  client: ClientBase,
): Promise<{ version: number; oldestProgram: number; digest?: string | null }> {
  const there = await client.query("SELECT to_regclass('research.schema') IS NOT NULL AS yes");
  if (!there.rows[0].yes) {
    const schema = await client.query("SELECT to_regnamespace('research') IS NOT NULL AS yes");
    if (!schema.rows[0].yes) await client.query("CREATE SCHEMA research");
    await client.query(
      "CREATE TABLE research.schema (version int NOT NULL, oldest_program int NOT NULL, digest text NOT NULL)",
    );
  }
  const columns = "version, oldest_program, to_jsonb(own)->>'digest' AS digest";
  const { rows } = await client.query(`SELECT ${columns} FROM research.schema AS own`);
  const { version = 0, oldest_program: oldestProgram = 0, digest } = rows[0] ?? {};
  return { version, oldestProgram, digest };
}
