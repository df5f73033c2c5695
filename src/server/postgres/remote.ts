import { randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { Claim, RemoteRequest, RemoteRequests } from "../conversations/conversation-store.js";
import type { Claims } from "./claims.js";
import type { Database, Statement } from "./database.js";
import { isOwnId } from "./states.js";

/** How long after `begin` an id may come from a process that lost its claim, ms: longer than a create may take. */
const MAY_COME_MS = 45_000;

/** A commit that was acknowledged is on the disk, whatever the database does otherwise. */
const SYNCED = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

/** request_id */
const READ: Statement = {
  name: "read-remote",
  text: `
    SELECT remote, remote_id,
      greatest(0, ${MAY_COME_MS} - extract(epoch FROM now() - remote_begun_at) * 1000)::float8 AS ms
    FROM research.conversations WHERE request_id = $1 AND remote IS NOT NULL`,
};

/** request_id, worker, claims, remote. The same attempt may be sent twice, if its answer was lost. */
const BEGIN: Statement = {
  name: "begin-remote",
  text: `
    UPDATE research.conversations SET remote = $4::jsonb, remote_begun_at = now()
    WHERE request_id = $1 AND worker = $2 AND claims = $3
      AND (remote IS NULL OR remote->'attempt' = $4::jsonb->'attempt')
      AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
    RETURNING ${SYNCED}`,
};

/** request_id, remote_id. From now on a claim is no start of the research, which runs elsewhere. */
const KEEP: Statement = {
  name: "keep-remote",
  text: `
    UPDATE research.conversations SET remote_id = $2, starts = 0
    WHERE request_id = $1 AND remote IS NOT NULL AND (completed_at IS NULL OR status = 'STOPPED')
    RETURNING status, ${SYNCED}`,
};

/** at, how long it is hidden, ms */
const TAKE: Statement = {
  name: "take-cancellation",
  text: `
    UPDATE research.cancellations SET due_at = now() + $2::float8 * interval '1 ms' WHERE request_id = (
      SELECT request_id FROM research.cancellations WHERE at = $1 AND due_at <= now()
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING request_id, remote_id, provider`,
};

/** request_id */
const CANCELLED: Statement = {
  name: "cancelled",
  text: "DELETE FROM research.cancellations WHERE request_id = $1",
};

/** Requests at another service; a stop writes in its own transaction that it is to be stopped there (migration 5). */
export class PostgresRemote implements RemoteRequests {
  constructor(private readonly parts: { database: Database; claims: Claims }) {}

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
}

/** A request at another service, of a row of research.conversations. */
export function remoteOf({ remote, remote_id }: QueryResultRow): RemoteRequest {
  const { at, provider, canStop } = remote;
  return { at, provider, canStop, ...(remote_id !== null && { remoteId: remote_id }) };
}
