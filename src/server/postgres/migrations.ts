import type { ClientBase } from "pg";
import { ServiceStartError } from "../start-error.js";

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
 * conversation: what has one is unfinished, and what has one and no worker is the queue; then it is `ended_job`. `claims` only grows, so
 * that it tells one claim from every other; `starts` does not count what was given back. Texts of clients are
 * JSON, because PostgreSQL's text cannot hold U+0000.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    oldestProgram: 1,
    sql: `
      CREATE TABLE research.processes (
        id uuid PRIMARY KEY,
        role text NOT NULL,
        settings text,
        expires_at timestamptz NOT NULL
      );
      CREATE TABLE research.keys (
        id text PRIMARY KEY,
        name text NOT NULL,
        hash text NOT NULL UNIQUE,
        tier text NOT NULL,
        creates_per_hour double precision NOT NULL,
        stops_per_hour double precision NOT NULL,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3),
        revoked_at timestamptz(3)
      );
      CREATE UNIQUE INDEX key_names ON research.keys (name) WHERE revoked_at IS NULL;
      CREATE TABLE research.windows (
        key text NOT NULL,
        operation text NOT NULL,
        times timestamptz[] NOT NULL,
        PRIMARY KEY (key, operation)
      );
      CREATE TABLE research.conversations (
        request_id uuid PRIMARY KEY,
        key text NOT NULL,
        status text NOT NULL DEFAULT 'PENDING'
          CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'STOPPED')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        due_at timestamptz NOT NULL,
        claims integer NOT NULL DEFAULT 0,
        starts integer NOT NULL DEFAULT 0,
        worker uuid REFERENCES research.processes ON DELETE SET NULL,
        completed_at timestamptz(3),
        job text,
        output text,
        reason text
      ) WITH (fillfactor = 80);
      CREATE INDEX queue ON research.conversations (due_at) WHERE job IS NOT NULL AND worker IS NULL;
      CREATE INDEX claims ON research.conversations (worker) WHERE worker IS NOT NULL;
      CREATE INDEX ended ON research.conversations (completed_at) WHERE completed_at IS NOT NULL;
    `,
  },
  {
    version: 2,
    oldestProgram: 1,
    sql: `
      CREATE TABLE research.exchanges (
        request_id uuid NOT NULL REFERENCES research.conversations ON DELETE CASCADE,
        number bigint GENERATED ALWAYS AS IDENTITY,
        record text NOT NULL,
        PRIMARY KEY (request_id, number)
      );
    `,
  },
  {
    version: 3,
    oldestProgram: 1,
    sql: `
      ALTER TABLE research.conversations
        ADD COLUMN started_at timestamptz(3),
        ADD COLUMN ended_job text;
      CREATE INDEX newest ON research.conversations (created_at DESC);
    `,
  },
  {
    version: 4,
    oldestProgram: 1,
    // The hour of a key is a ring of as many slots as its limit: request n takes slot n % size, which has to be older
    // than an hour. Programs before this version count in research.windows, and the triggers keep both the same: they
    // and the columns of that table can go with the next version.
    sql: `
      LOCK TABLE research.windows IN SHARE ROW EXCLUSIVE MODE;
      CREATE TABLE research.counters (
        key text,
        operation text,
        taken bigint NOT NULL,
        size bigint,
        PRIMARY KEY (key, operation)
      ) WITH (fillfactor = 50);
      CREATE TABLE research.slots (
        key text,
        operation text,
        number bigint,
        at timestamptz NOT NULL,
        PRIMARY KEY (key, operation, number)
      ) WITH (fillfactor = 80);
      INSERT INTO research.counters SELECT key, operation, cardinality(times) FROM research.windows;
      INSERT INTO research.slots SELECT key, operation, number - 1, at
        FROM research.windows, unnest(times) WITH ORDINALITY AS counted (at, number);

      -- Counts as many of the wanted requests as the hour allows. The row of the counter is locked first: what is
      -- read after that is what the others have left. A size of NULL has no limit yet; another size lays the ring anew.
      CREATE FUNCTION research.take(of_key text, of_operation text, wanted int, new_size bigint) RETURNS int
      LANGUAGE plpgsql AS $$
      DECLARE
        own research.counters;
        granted int := 0;
        moment timestamptz;
        hour timestamptz[];
      BEGIN
        LOOP
          SELECT * INTO own FROM research.counters WHERE key = of_key AND operation = of_operation FOR UPDATE;
          EXIT WHEN FOUND;
          INSERT INTO research.counters VALUES (of_key, of_operation, 0, new_size) ON CONFLICT DO NOTHING;
        END LOOP;
        moment := clock_timestamp();
        IF own.size IS DISTINCT FROM new_size THEN
          SELECT array_agg(at ORDER BY at) INTO hour FROM (
            SELECT at FROM research.slots
            WHERE key = of_key AND operation = of_operation AND at > moment - interval '1 hour'
            ORDER BY at DESC LIMIT new_size
          ) AS counted;
          DELETE FROM research.slots WHERE key = of_key AND operation = of_operation;
          INSERT INTO research.slots SELECT of_key, of_operation, number - 1, at
            FROM unnest(hour) WITH ORDINALITY AS counted (at, number);
          own.taken := coalesce(cardinality(hour), 0);
        END IF;
        WHILE granted < wanted LOOP
          INSERT INTO research.slots AS slot
          VALUES (of_key, of_operation, own.taken % coalesce(new_size, own.taken + 1), moment)
          ON CONFLICT (key, operation, number) DO UPDATE SET at = moment WHERE slot.at <= moment - interval '1 hour';
          EXIT WHEN NOT FOUND;
          own.taken := own.taken + 1;
          granted := granted + 1;
        END LOOP;
        IF granted > 0 OR own.size IS DISTINCT FROM new_size THEN
          UPDATE research.counters SET taken = own.taken, size = new_size
          WHERE key = of_key AND operation = of_operation;
        END IF;
        RETURN granted;
      END $$;

      CREATE FUNCTION research.count_of_an_older_program() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        own research.counters;
      BEGIN
        INSERT INTO research.counters VALUES (NEW.key, NEW.operation, 0) ON CONFLICT DO NOTHING;
        SELECT * INTO own FROM research.counters WHERE key = NEW.key AND operation = NEW.operation FOR UPDATE;
        IF TG_WHEN = 'AFTER' THEN
          PERFORM research.take(NEW.key, NEW.operation, 1, own.size);
        ELSIF EXISTS (
          SELECT FROM research.slots WHERE key = NEW.key AND operation = NEW.operation
            AND number = own.taken % own.size AND at > clock_timestamp() - interval '1 hour'
        ) THEN
          RETURN NULL;
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER ring_has_room BEFORE INSERT ON research.windows
        FOR EACH ROW EXECUTE FUNCTION research.count_of_an_older_program();
      CREATE TRIGGER ring_counts AFTER INSERT OR UPDATE ON research.windows
        FOR EACH ROW EXECUTE FUNCTION research.count_of_an_older_program();
    `,
  },
  {
    version: 5,
    oldestProgram: 1,
    // A trigger, so that a stop by a program before this version is passed on too.
    sql: `
      ALTER TABLE research.conversations
        ADD COLUMN remote jsonb,
        ADD COLUMN remote_begun_at timestamptz,
        ADD COLUMN remote_id text;
      CREATE TABLE research.cancellations (
        request_id uuid PRIMARY KEY,
        at text NOT NULL,
        provider text NOT NULL,
        remote_id text NOT NULL,
        due_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE FUNCTION research.stop_it_there_too() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO research.cancellations
        VALUES (NEW.request_id, NEW.remote->>'at', NEW.remote->>'provider', NEW.remote_id);
        RETURN NULL;
      END $$;
      CREATE TRIGGER stopped_there_too AFTER UPDATE OF status, remote_id ON research.conversations
        FOR EACH ROW WHEN (NEW.status = 'STOPPED' AND NEW.remote_id IS NOT NULL
          AND (OLD.status <> 'STOPPED' OR OLD.remote_id IS NULL))
        EXECUTE FUNCTION research.stop_it_there_too();
    `,
  },
  {
    version: 6,
    oldestProgram: 1,
    // How far the work is, and what an outcome says beside the output. Both are JSON.
    sql: "ALTER TABLE research.conversations ADD COLUMN progress text, ADD COLUMN data text",
  },
  {
    version: 7,
    oldestProgram: 1,
    // Creates that another service has refused, whatever they asked: one row each for conversations and for creates.
    sql: `
      CREATE TABLE research.refusals (
        what text PRIMARY KEY,
        in_a_row integer NOT NULL,
        next_at timestamptz NOT NULL
      );
      ALTER TABLE research.conversations ADD COLUMN cost_dollars double precision;
      CREATE INDEX costs ON research.conversations (completed_at) WHERE cost_dollars IS NOT NULL;
    `,
  },
];

/** One number for the whole product: who holds this lock changes the schema. */
const LOCK = 7_236_914_551;

/** PostgreSQL's own form of a version: 150004 is 15.4. */
const OLDEST_SERVER = 150_000;

/**
 * Brings the schema up to this program's version; any number of processes may do so at once. Throws a
 * ServiceStartError for a server before PostgreSQL 15 and for a schema that this program does not know.
 */
export async function migrate(client: ClientBase, migrations = MIGRATIONS): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int AS number");
  if (rows[0].number < OLDEST_SERVER) {
    const major = Math.floor(rows[0].number / 10_000);
    throw unusable(`The database runs on PostgreSQL ${major}; PostgreSQL 15 or later is needed.`);
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
  const own = migrations.at(-1)?.version ?? 0;
  const { version, oldestProgram } = await schemaOf(client);
  if (oldestProgram > own) {
    throw unusable(
      `The database holds schema version ${version}, and this program knows version ${own}. ` +
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
async function schemaOf(client: ClientBase): Promise<{ version: number; oldestProgram: number }> {
  const there = await client.query("SELECT to_regclass('research.schema') IS NOT NULL AS yes");
  if (!there.rows[0].yes) {
    const schema = await client.query("SELECT to_regnamespace('research') IS NOT NULL AS yes");
    if (!schema.rows[0].yes) await client.query("CREATE SCHEMA research");
    await client.query("CREATE TABLE research.schema (version int NOT NULL, oldest_program int NOT NULL)");
  }
  const { rows } = await client.query("SELECT version, oldest_program FROM research.schema");
  return { version: rows[0]?.version ?? 0, oldestProgram: rows[0]?.oldest_program ?? 0 };
}

function unusable(message: string): ServiceStartError {
  return new ServiceStartError("DATABASE_UNUSABLE", message);
}
