import { randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { Clock } from "../../core/clock.js";
import {
  type Cancellation,
  type Claim,
  type DayLimit,
  NOT_SENT,
  type RemoteRequest,
  type RemoteRequests,
  WAIT_LIMIT_MS,
} from "../conversations/conversation-store.js";
import {
  advanceGate,
  type CreateAnswer,
  type CreateGate,
  findGateRefusal,
  OPEN,
} from "../conversations/create-gate.js";
import { type Database, defineSql, PORTION } from "./database.js";
import type { PostgresClaims } from "./postgres-claims.js";
import { isConversationId } from "./read-states.js";

/** How long after `begin` a process that lost its claim may still report an id, in ms: longer than a create call may take. */
const MAY_COME_MS = 45_000;

/** Makes an acknowledged commit durable, even if the database's setting is not. */
const SYNCED = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

/** Reads the upstream request. Parameter: request_id. */
const READ = defineSql("read-remote")`
  SELECT remote, remote_id,
    greatest(0, ${MAY_COME_MS} - extract(epoch FROM now() - remote_begun_at) * 1000)::float8 AS ms
  FROM research.conversations WHERE request_id = $1 AND remote IS NOT NULL`;

/**
 * Begins a request. Parameters: request_id, worker, claims, remote, account or NULL, its create calls per 24 hours. May
 * be repeated if the answer was lost. From then on the create call is never sent again, so a claim does not count as a
 * start. Returns no row if the claim is no longer valid.
 */
const BEGIN = defineSql("begin-remote")`
  WITH own AS MATERIALIZED (
    SELECT request_id FROM research.conversations
    WHERE request_id = $1 AND worker = $2 AND claims = $3
      AND (remote IS NULL OR remote->'attempt' = $4::jsonb->'attempt')
      AND EXISTS (SELECT FROM research.processes WHERE id = $2 AND expires_at > now())
    FOR UPDATE
  ), day AS MATERIALIZED (
    SELECT request_id, CASE WHEN $5::text IS NOT NULL THEN research.send(request_id, $5, $6) END AS full_ms FROM own
  ), begun AS (
    UPDATE research.conversations SET remote = $4::jsonb, remote_begun_at = now()
    WHERE request_id IN (SELECT request_id FROM day WHERE full_ms IS NULL)
  )
  SELECT full_ms, ${SYNCED} FROM day`;

/** Stores the upstream id, and a cancellation if the conversation was stopped meanwhile. Parameters: request_id, remote_id. */
const KEEP = defineSql("keep-remote")`
  WITH kept AS (
    UPDATE research.conversations SET remote_id = $2,
      status = CASE status WHEN 'PENDING' THEN 'PROCESSING' ELSE status END, reason = NULL,
      started_at = coalesce(started_at, now())
    WHERE request_id = $1 AND remote IS NOT NULL AND (completed_at IS NULL OR status = 'STOPPED')
    RETURNING *
  ), passed_on AS (${buildCancellationInsert("kept")})
  SELECT status, ${SYNCED} FROM kept`;

/** Takes a cancellation and hides it from others. Parameters: origin, ms to hide it for. */
const TAKE = defineSql("take-cancellation")`
  UPDATE research.cancellations SET due_at = now() + $2::float8 * interval '1 ms' WHERE request_id = (
    SELECT request_id FROM research.cancellations WHERE at = $1 AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING request_id AS "requestId", remote_id AS "remoteId", provider`;

/** Removes a cancellation. Parameter: request_id. */
const CANCELLED = defineSql("cancelled")`DELETE FROM research.cancellations WHERE request_id = $1`;

/** Forgets a request that was not created, even if the claim was lost. Parameters: request_id, worker, claims, attempt or NULL, reason. */
const RELEASE = defineSql("release-remote")`
  WITH released AS (UPDATE research.conversations SET remote = NULL, remote_begun_at = NULL,
    reason = CASE WHEN completed_at IS NULL THEN coalesce($5, reason) ELSE reason END,
    worker = CASE WHEN worker = $2 AND claims = $3 THEN NULL ELSE worker END
  WHERE request_id = $1 AND remote_id IS NULL
    AND (remote->>'attempt' = $4 OR (remote IS NULL AND worker = $2 AND claims = $3))
  RETURNING request_id)
  DELETE FROM research.sent WHERE request_id IN (SELECT request_id FROM released)`;

/** Removes a create call from the count of its day. Parameter: request_id. */
const UNSENT = defineSql("unsent")`DELETE FROM research.sent WHERE request_id = $1`;

/** Returns each stopped conversation for which it is unknown whether the request exists. Returns each once, to one process. */
const TAKE_LOST = defineSql("take-lost")`
  UPDATE research.conversations SET remote = remote || '{"lost":true}' WHERE request_id = (
    SELECT request_id FROM research.conversations
    WHERE status = 'STOPPED' AND remote_id IS NULL AND remote IS NOT NULL AND NOT remote ? 'lost'
      AND remote_begun_at < now() - interval '${MAY_COME_MS} ms'
    LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING request_id AS "requestId", remote->>'provider' AS provider`;

/** Fails conversations that were not sent in time. Parameter: default reason. Reasons are JSON texts, so the prefix goes behind the first quote. */
const EXPIRE = defineSql("expire")`
  WITH expired AS (
    UPDATE research.conversations SET status = 'FAILED', completed_at = now(), ended_job = job, job = NULL,
      reason = '"${NOT_SENT}' || substr(coalesce(reason, $1), 2)
    WHERE request_id IN (
      SELECT request_id FROM research.conversations
      WHERE status = 'PENDING' AND created_at < now() - interval '${WAIT_LIMIT_MS} ms' AND worker IS NULL AND remote IS NULL
      ORDER BY created_at LIMIT ${PORTION} FOR UPDATE SKIP LOCKED
    ) RETURNING request_id
  ) SELECT research.tally(array_agg(request_id), '{ended}', 1, false) AS count FROM expired`;

const GATE_COLUMNS = "version, state, extract(epoch FROM next_at - now())::float8 * 1000 AS ms";
const GATE = defineSql("gate")`SELECT ${GATE_COLUMNS} FROM research.gate`;

/** Replaces the gate. Parameters: replaced version or 0, kind, ms until the next attempt, state. Returns no row if another process was quicker. */
const SET_GATE = defineSql("set-gate")`
  INSERT INTO research.gate AS own (version, kind, next_at, state)
  SELECT 1, $2, now() + $3::float8 * interval '1 ms', $4 WHERE $1 = 0 OR EXISTS (SELECT FROM research.gate)
  ON CONFLICT (id) DO UPDATE SET version = own.version + 1, kind = $2, next_at = excluded.next_at, state = $4
  WHERE own.version = $1::int RETURNING version`;

/**
 * Builds a column that counts the conversations that wait to be sent or are being sent, up to `most`. A joined table
 * would be counted even if create calls are accepted. REFUSAL has a row only if they are not. Its parameter: key.
 */
const buildWaitingQuery = (of: string, most: string) => `(
  SELECT count(*) FROM (
    SELECT FROM research.conversations WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL${of}
    UNION ALL SELECT FROM research.conversations WHERE status = 'PENDING' AND worker IS NOT NULL${of}
    LIMIT ${most}
  ) AS those
)::int`;
const REFUSAL = defineSql("refusal")`
  SELECT ${GATE_COLUMNS}, ${buildWaitingQuery(" AND key = $1", "(state::jsonb->>'atOnce')::float8")} AS of_key,
    ${buildWaitingQuery("", "1")} AS of_all
  FROM research.gate WHERE kind IS NOT NULL`;

/** Builds a statement that adds cancellations for those of the rows that were stopped and run at the upstream service. */
export function buildCancellationInsert(rows: string): string {
  return `INSERT INTO research.cancellations
    SELECT request_id, remote->>'at', remote->>'provider', remote_id
    FROM ${rows} WHERE status = 'STOPPED' AND remote_id IS NOT NULL ON CONFLICT DO NOTHING`;
}

/** How long (ms) an open gate counts as open before the database is asked again. */
const FREE_MS = 1_000;

/** Tracks the requests at the upstream service. The statement that stops a conversation also adds its cancellation. */
export class PostgresUpstreamRequests implements RemoteRequests {
  /** Monotonic ms until which the gate counts as open. */
  #freeUntil = 0;
  readonly #attempts = new WeakMap<Claim, string>();
  constructor(private readonly parts: { database: Database; claims: PostgresClaims; clock: Clock }) {}

  async read(requestId: string) {
    if (!isConversationId(requestId)) return undefined;
    const [row] = await this.parts.database.read(READ, [requestId]);
    return row && { ...convertRemoteRow(row), mayComeMs: row.ms as number };
  }

  claim(which: "begun" | "new", signal: AbortSignal): Promise<Claim> {
    return this.parts.claims.claim(signal, which);
  }

  async begin(claim: Claim, request: Omit<RemoteRequest, "remoteId">, day?: DayLimit) {
    const attempt = randomUUID();
    this.#attempts.set(claim, attempt);
    const remote = JSON.stringify({ ...request, attempt });
    const { rows } = await this.parts.claims.write(claim, BEGIN, [remote, day?.account, day?.most]);
    const [row] = rows;
    if (row?.full_ms != null) return { fullMs: Math.max(1, row.full_ms) };
    // This process may have been suspended after the database answered.
    return row !== undefined && this.parts.claims.isHolding(claim);
  }

  async keep(claim: Claim, remoteId: string) {
    const [row] = await this.parts.database.run(KEEP, [claim.job.request_id, remoteId]);
    if (row === undefined) return "ended";
    return row.status === "STOPPED" ? "stopped" : "kept";
  }

  async takeCancellation(at: string, forMs: number) {
    return (await this.parts.database.run(TAKE, [at, forMs]))[0] as Cancellation | undefined;
  }

  async noteCancelled(requestId: string): Promise<void> {
    await this.parts.database.run(CANCELLED, [requestId]);
  }

  async release(claim: Claim, reason?: string): Promise<void> {
    const { worker, number } = this.parts.claims.getFence(claim);
    const why = reason && JSON.stringify(reason);
    const values = [claim.job.request_id, worker, number, this.#attempts.get(claim), why];
    await this.parts.database.run(RELEASE, values);
  }

  async takeLost() {
    return (await this.parts.database.run(TAKE_LOST, []))[0] as Omit<Cancellation, "remoteId"> | undefined;
  }

  async expire(): Promise<void> {
    const [row] = await this.parts.database.read(GATE, []);
    const reason = JSON.stringify(convertGateRow(row).reason);
    for (let count = PORTION; count === PORTION; )
      count = (await this.parts.database.run(EXPIRE, [reason]))[0]?.count;
  }

  async noteAnswered(claim: Claim, answer: CreateAnswer): Promise<void> {
    const { claims, database } = this.parts;
    if (answer.kind === "open" && answer.isRefused) await database.run(UNSENT, [claim.job.request_id]);
    for (let isSet = false; !isSet; ) {
      const [row] = await database.read(GATE, []);
      const gate = convertGateRow(row);
      const next = advanceGate(gate, answer, claims.getFence(claim).gate !== (row?.version ?? 0));
      if (next === OPEN && gate.kind === undefined && gate.unknowns === 0) return;
      this.#freeUntil = 0;
      const values = [row?.version ?? 0, next.kind, next.waitMs, JSON.stringify(next)];
      isSet = (await database.run(SET_GATE, values)).length > 0;
    }
  }

  async findRefusal(keyId: string) {
    const { clock, database } = this.parts;
    if (clock.monotonic() < this.#freeUntil) return undefined;
    const [row] = await database.read(REFUSAL, [keyId]);
    if (row === undefined) this.#freeUntil = clock.monotonic() + FREE_MS;
    return row && findGateRefusal(convertGateRow(row), { ofKey: row.of_key, ofAll: row.of_all });
  }
}

/** Converts a row of research.gate. The gate is open if there is no row. */
function convertGateRow(row: QueryResultRow | undefined): CreateGate {
  return row ? { ...JSON.parse(row.state), waitMs: Math.max(0, row.ms) } : OPEN;
}

/** Reads the upstream request from a row of research.conversations. */
export function convertRemoteRow({ remote, remote_id }: QueryResultRow): RemoteRequest {
  const { at, provider, canStop } = remote;
  return { at, provider, canStop, remoteId: remote_id ?? undefined };
}
