import { randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { Clock } from "../../clock.js";
import {
  type Begun,
  type Claim,
  PROBE_MS,
  REFUSALS,
  type RemoteRequest,
  type RemoteRequests,
} from "../conversations/conversation-store.js";
import type { Claims } from "./claims.js";
import { type Database, sql } from "./database.js";
import { isOwnId } from "./states.js";

/** How long after `begin` an id may come from a process that lost its claim, ms: longer than a create may take. */
const MAY_COME_MS = 45_000;

/** A commit that was acknowledged is on the disk, whatever the database does otherwise. */
const SYNCED = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

/** request_id */
const READ = sql("read-remote")`
  SELECT remote, remote_id,
    greatest(0, ${MAY_COME_MS} - extract(epoch FROM now() - remote_begun_at) * 1000)::float8 AS ms
  FROM research.conversations WHERE request_id = $1 AND remote IS NOT NULL`;

/**
 * request_id, worker, claims, remote. The same attempt may be sent twice, if its answer was lost. From now on a claim is
 * no start of the research, which is never sent again.
 */
const BEGIN = sql("begin-remote")`
  UPDATE research.conversations SET remote = $4::jsonb, remote_begun_at = now()
  WHERE request_id = $1 AND worker = $2 AND claims = $3
    AND (remote IS NULL OR remote->'attempt' = $4::jsonb->'attempt')
    AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
  RETURNING ${SYNCED}`;

/** request_id, remote_id */
const KEEP = sql("keep-remote")`
  UPDATE research.conversations SET remote_id = $2
  WHERE request_id = $1 AND remote IS NOT NULL AND (completed_at IS NULL OR status = 'STOPPED')
  RETURNING status, ${SYNCED}`;

/** at, how long it is hidden, ms */
const TAKE = sql("take-cancellation")`
  UPDATE research.cancellations SET due_at = now() + $2::float8 * interval '1 ms' WHERE request_id = (
    SELECT request_id FROM research.cancellations WHERE at = $1 AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING request_id, remote_id, provider`;

/** request_id */
const CANCELLED = sql("cancelled")`DELETE FROM research.cancellations WHERE request_id = $1`;

const REFUSED = sql("refused")`
  INSERT INTO research.refusals AS own
  SELECT what, 1, now() FROM unnest('{conversation,create}'::text[]) AS what
  ON CONFLICT (what) DO UPDATE SET in_a_row = own.in_a_row + 1,
    next_at = CASE own.in_a_row + 1 WHEN ${REFUSALS} THEN now() + interval '${PROBE_MS} ms' ELSE own.next_at END`;

const TAKEN = sql("taken")`DELETE FROM research.refusals`;

/** what. No row if it may be begun for all that is known; else how long it has to wait, ms. */
const BUSY = sql("busy")`
  WITH begun AS (
    UPDATE research.refusals SET next_at = now() + interval '${PROBE_MS} ms'
    WHERE what = $1 AND in_a_row >= ${REFUSALS} AND next_at <= now() RETURNING what
  )
  SELECT CASE WHEN EXISTS (SELECT FROM begun) THEN 0 WHEN next_at <= now() THEN ${PROBE_MS}
    ELSE extract(epoch FROM next_at - now()) * 1000 END::float8 AS ms
  FROM research.refusals WHERE what = $1 AND in_a_row >= ${REFUSALS}`;

/** For how long conversations are begun without a look after no refusals were found, ms: most services never have any. */
const FREE_MS = 1_000;

/** Requests at another service; a stop writes in its own transaction that it is to be stopped there (migration 5). */
export class PostgresRemote implements RemoteRequests {
  /** Until when that holds, monotonic ms. */
  #freeUntil = 0;
  constructor(private readonly parts: { database: Database; claims: Claims; clock: Clock }) {}

  async read(requestId: string) {
    if (!isOwnId(requestId)) return undefined;
    const [row] = await this.parts.database.read(READ, [requestId]);
    return row && { ...remoteOf(row), mayComeMs: row.ms as number };
  }

  async begin(claim: Claim, request: Omit<RemoteRequest, "remoteId">): Promise<boolean> {
    const remote = JSON.stringify({ ...request, attempt: randomUUID() });
    const { rows } = await this.parts.claims.write(claim, BEGIN, [remote]);
    // This process may have been suspended since the database answered.
    return rows.length > 0 && this.parts.claims.holds(claim);
  }

  async keep(claim: Claim, remoteId: string) {
    const [row] = await this.parts.database.run(KEEP, [claim.job.request_id, remoteId]);
    if (row === undefined) return "ended";
    return row.status === "STOPPED" ? "stopped" : "kept";
  }

  async takeCancellation(at: string, forMs: number) {
    const [row] = await this.parts.database.run(TAKE, [at, forMs]);
    return row && { requestId: row.request_id, remoteId: row.remote_id, provider: row.provider };
  }

  async cancelled(requestId: string): Promise<void> {
    await this.parts.database.run(CANCELLED, [requestId]);
  }

  async answered(isRefused: boolean): Promise<void> {
    await this.parts.database.run(isRefused ? REFUSED : TAKEN, []);
  }

  async busyMs(what: Begun): Promise<number> {
    const { clock, database } = this.parts;
    if (what === "conversation" && clock.monotonic() < this.#freeUntil) return 0;
    const [row] = await database.run(BUSY, [what]);
    if (row === undefined) this.#freeUntil = clock.monotonic() + FREE_MS;
    return row?.ms ?? 0;
  }
}

/** A request at another service, of a row of research.conversations. */
export function remoteOf({ remote, remote_id }: QueryResultRow): RemoteRequest {
  const { at, provider, canStop } = remote;
  return { at, provider, canStop, remoteId: remote_id ?? undefined };
}
