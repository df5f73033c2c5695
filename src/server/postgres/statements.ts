import type { Statement } from "./database.js";

/** §8: the hourly window rolls. */
const HOUR = "interval '1 hour'";

/**
 * Counts one request of a key, unless its last hour holds `limit` already; no row then. The row of the key is
 * locked, so that requests on several processes are counted one after the other. An infinite limit counts nothing.
 */
const counted = (operation: "create" | "stop", key: string, limit: string) => `
  INSERT INTO research.windows AS own (key, operation, times)
  SELECT ${key}::text, '${operation}', ARRAY[now()] WHERE ${limit}::float8 BETWEEN 1 AND 1e15
  ON CONFLICT (key, operation) DO UPDATE
  SET times = ARRAY(SELECT at FROM unnest(own.times) AS at WHERE at > now() - ${HOUR}) || now()
  WHERE (SELECT count(*) FROM unnest(own.times) AS at WHERE at > now() - ${HOUR}) < ${limit}::float8
  RETURNING key`;

const allowed = (limit: string) => `(${limit}::float8 > 1e15 OR EXISTS (SELECT FROM counted))`;

/** request_id, key, limit, job, least ms in PENDING. No row: rate limited. SQLSTATE 23505: it was there already. */
export const CREATE: Statement = {
  name: "create",
  text: `
    WITH counted AS (${counted("create", "$2", "$3")})
    INSERT INTO research.conversations (request_id, key, job, due_at)
    SELECT $1::uuid, $2, $4, now() + $5::float8 * interval '1 ms' WHERE ${allowed("$3")}
    RETURNING created_at`,
};

/** key, operation, limit: how long until the next request is allowed, ms. */
export const RETRY_AFTER: Statement = {
  name: "retry-after",
  text: `
    SELECT extract(epoch FROM at + ${HOUR} - now())::float8 * 1000 AS ms
    FROM research.windows, unnest(times) AS at
    WHERE key = $1 AND operation = $2 AND at > now() - ${HOUR}
    ORDER BY at DESC OFFSET greatest($3::float8 - 1, 0)::int LIMIT 1`,
};

const VISIBLE = "request_id = $1::uuid AND ($2::text IS NULL OR key = $2)";

/** request_id, key (NULL: any). */
export const GET: Statement = {
  name: "get",
  text: `SELECT status, created_at, completed_at, reason FROM research.conversations WHERE ${VISIBLE}`,
};

/** request_ids */
export const GET_MANY: Statement = {
  name: "get-many",
  text: `
    SELECT request_id, key, status, created_at, completed_at, reason FROM research.conversations
    WHERE request_id = ANY ($1::uuid[])`,
};

export const OUTPUT: Statement = {
  name: "output",
  text: `SELECT status, created_at, completed_at, reason, output FROM research.conversations WHERE ${VISIBLE}`,
};

/** request_id, key that may see it (NULL: any), key that is counted, limit. Its worker is notified. */
export const STOP: Statement = {
  name: "stop",
  text: `
    WITH counted AS (${counted("stop", "$3", "$4")}),
    stopped AS (
      UPDATE research.conversations SET status = 'STOPPED', completed_at = now(), worker = NULL, ended_job = job, job = NULL
      WHERE ${VISIBLE} AND completed_at IS NULL AND ${allowed("$4")}
      RETURNING request_id
    ),
    forgotten AS (DELETE FROM research.exchanges WHERE request_id IN (SELECT request_id FROM stopped))
    SELECT ${allowed("$4")} AS allowed,
      (SELECT count(pg_notify('research', 'stop ' || request_id)) FROM stopped)::int AS stopped`,
};

/** worker: takes the conversation that is due longest, if the worker's lease holds. */
export const CLAIM: Statement = {
  name: "claim",
  text: `
    WITH due AS MATERIALIZED (
      SELECT request_id FROM research.conversations
      WHERE job IS NOT NULL AND worker IS NULL AND due_at <= now()
        AND EXISTS (SELECT FROM research.processes WHERE id = $1 AND expires_at > now())
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE research.conversations AS own 
    SET status = 'PROCESSING', worker = $1, starts = starts + 1, claims = claims + 1,
      started_at = coalesce(started_at, now())
    FROM due WHERE own.request_id = due.request_id
    RETURNING own.request_id, own.starts, own.claims, own.job`,
};

/** How long until the next conversation is due, ms; NULL if none waits. */
export const NEXT_DUE: Statement = {
  name: "next-due",
  text: `
    SELECT extract(epoch FROM min(due_at) - now())::float8 * 1000 AS ms FROM research.conversations
    WHERE job IS NOT NULL AND worker IS NULL`,
};

/** request_id, worker, claims, status, output, reason. No row: the claim is not valid any more. */
export const END: Statement = {
  name: "end",
  text: `
    UPDATE research.conversations
    SET status = $4, output = $5, reason = $6, completed_at = now(), worker = NULL, ended_job = job,
      job = NULL
    WHERE request_id = $1 AND worker = $2 AND claims = $3
      AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
    RETURNING request_id`,
};

/** request_id, worker, claims. The place in the queue stays, and the start does not count. */
export const GIVE_BACK: Statement = {
  name: "give-back",
  text: `
    WITH given AS (
      UPDATE research.conversations SET worker = NULL, starts = starts - 1
      WHERE request_id = $1 AND worker = $2 AND claims = $3 RETURNING request_id
    ) SELECT count(pg_notify('research', 'work')) FROM given`,
};

/** worker, ids it knows of: gives back what it holds beyond them, because the answer to a claim was lost. */
export const GIVE_BACK_OTHERS: Statement = {
  name: "give-back-others",
  text: `
    UPDATE research.conversations SET worker = NULL, starts = starts - 1
    WHERE worker = $1 AND NOT request_id = ANY ($2::uuid[])`,
};

export const WORK: Statement = { name: "work", text: "SELECT pg_notify('research', 'work')" };

/** id, lease in ms: a lease that has run out cannot be renewed. `held` are the conversations that it covers. */
export const RENEW: Statement = {
  name: "renew",
  text: `
    WITH renewed AS (
      UPDATE research.processes SET expires_at = now() + $2::float8 * interval '1 ms'
      WHERE id = $1 AND expires_at > now() RETURNING id
    )
    SELECT ARRAY(SELECT request_id::text FROM research.conversations WHERE worker = $1) AS held FROM renewed`,
};

/** Deletes what has run out; the foreign key gives back the work of those processes. */
export const DELETE_EXPIRED: Statement = {
  name: "delete-expired",
  text: `
    WITH dead AS (
      DELETE FROM research.processes WHERE id IN (
        SELECT id FROM research.processes WHERE expires_at < now() FOR UPDATE SKIP LOCKED
      ) RETURNING role
    ) SELECT count(pg_notify('research', 'work')) FROM dead WHERE role <> 'api'`,
};

export const LEAVE: Statement = { name: "leave", text: "DELETE FROM research.processes WHERE id = $1" };

/** id, role, settings, lease in ms */
export const JOIN: Statement = {
  name: "join",
  text: `
    INSERT INTO research.processes (id, role, settings, expires_at)
    VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms')`,
};

/** age in ms. In portions, so that no lock is held for long. */
export const DELETE_ENDED: Statement = {
  name: "delete-ended",
  text: `
    WITH gone AS (
      DELETE FROM research.conversations WHERE request_id IN (
        SELECT request_id FROM research.conversations
        WHERE completed_at < now() - $1::float8 * interval '1 ms'
        ORDER BY completed_at LIMIT 1000 FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    ) SELECT count(*)::int AS count FROM gone`,
};

/** age in ms */
export const COUNT_ENDED: Statement = {
  name: "count-ended",
  text: `
    SELECT count(*)::int AS all,
      (count(*) FILTER (WHERE completed_at < now() - $1::float8 * interval '1 ms'))::int AS old
    FROM research.conversations`,
};

export const COUNTS: Statement = {
  name: "counts",
  text: "SELECT status, count(*)::int AS count FROM research.conversations GROUP BY status",
};

export const READY: Statement = { name: "ready", text: "SELECT NOT pg_is_in_recovery() AS writable" };

/** id, settings */
export const SET_SETTINGS: Statement = {
  name: "set-settings",
  text: "UPDATE research.processes SET settings = $2 WHERE id = $1",
};

/** settings: of the other processes that live. */
export const OTHER_SETTINGS: Statement = {
  name: "other-settings",
  text: "SELECT FROM research.processes WHERE settings <> $1 AND expires_at > now() LIMIT 1",
};
