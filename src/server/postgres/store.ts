import type { Clock } from "../../clock.js";
import { exactJson } from "../../json/exact-json.js";
import type { KnownStatus } from "../../protocol/conversation.js";
import type { Conversation } from "../conversations/conversation.js";
import type {
  Caller,
  Claim,
  ConversationStore,
  CreateResult,
  Outcome,
  RateLimited,
  StopResult,
  StoreCounts,
} from "../conversations/conversation-store.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";
import type { ResearchJob } from "../researchers/researcher.js";
import type { Claims } from "./claims.js";
import { createOnce } from "./create-once.js";
import type { Database } from "./database.js";
import { PostgresExchanges } from "./exchanges.js";
import { PostgresKeyStore } from "./key-store.js";
import { PostgresOverview } from "./overview.js";
import { conversationOf, isOwnId } from "./rows.js";
import { StateReader } from "./state-reader.js";
import {
  COUNT_ENDED,
  COUNTS,
  DELETE_ENDED,
  NEXT_DUE,
  OUTPUT,
  READY,
  RETRY_AFTER,
  STOP,
  WORK,
} from "./statements.js";

/** Workers are notified of new work at most this often, ms: each notification holds a lock of the whole database. */
const NOTIFY_MS = 20;

export interface StoreParts {
  database: Database;
  claims: Claims;
  clock: Clock;
  /** Least time in PENDING, ms. */
  pendingMs: number;
}

/** Conversations in PostgreSQL, shared by any number of processes. Its clock is the database's. */
export class PostgresStore implements ConversationStore {
  readonly keys: PostgresKeyStore;
  readonly exchanges: PostgresExchanges;
  readonly overview: PostgresOverview;
  readonly #states: StateReader;
  #notifying: "idle" | "waiting" | "repeat" = "idle";
  constructor(private readonly parts: StoreParts) {
    this.#states = new StateReader(parts.database);
    this.keys = new PostgresKeyStore(parts.database, parts.clock);
    this.exchanges = new PostgresExchanges(parts.database);
    this.overview = new PostgresOverview(parts);
  }

  /**
   * Says which key and limits this process runs with, where the database does not hold them. Rejects with a
   * ServiceStartError if another process lives that has others.
   */
  agreeOn(settings: string): Promise<void> {
    return this.parts.claims.agreeOn(settings);
  }

  async create({ keyId, limits }: Caller, job: ResearchJob): Promise<CreateResult> {
    const { database, clock, pendingMs } = this.parts;
    const values = [job.request_id, keyId, limits.create, exactJson(job), pendingMs];
    const createdAt = await createOnce(database, clock, values);
    if (createdAt === undefined) return this.#rateLimited(keyId, "create", limits.create);
    void this.#notifyWorkers();
    return { kind: "created", createdAt: createdAt.getTime() };
  }

  async get(caller: Caller, requestId: string): Promise<Conversation | undefined> {
    if (!isOwnId(requestId)) return undefined;
    const row = await this.#states.get(requestId.toLowerCase());
    const isVisible = row !== undefined && (!caller.ownOnly || row.key === caller.keyId);
    return isVisible ? conversationOf(requestId, row) : undefined;
  }

  async output(caller: Caller, requestId: string) {
    if (!isOwnId(requestId)) return undefined;
    const visibleTo = caller.ownOnly ? caller.keyId : null;
    const [row] = await this.parts.database.read(OUTPUT, [requestId, visibleTo]);
    if (row === undefined) return undefined;
    const conversation = conversationOf(requestId, row);
    return row.output === null ? { conversation } : { conversation, output: String(row.output) };
  }

  async stop(caller: Caller, requestId: string): Promise<StopResult> {
    const { keyId, limits, ownOnly } = caller;
    // The nil id is in no row, and the request counts all the same.
    const id = isOwnId(requestId) ? requestId : "00000000-0000-0000-0000-000000000000";
    const [row] = await this.parts.database.run(STOP, [id, ownOnly ? keyId : null, keyId, limits.stop]);
    if (row?.allowed !== true) return this.#rateLimited(keyId, "stop", limits.stop);
    if (row.stopped > 0) return { kind: "stopped" };
    const found = await this.get(caller, requestId);
    return found === undefined ? { kind: "not-found" } : { kind: "already-ended", status: found.status };
  }

  claim(signal: AbortSignal): Promise<Claim> {
    return this.parts.claims.claim(signal);
  }

  end(claim: Claim, outcome: Outcome): Promise<boolean> {
    return this.parts.claims.end(claim, outcome);
  }

  giveBack(claim: Claim): Promise<void> {
    return this.parts.claims.giveBack(claim);
  }

  async deleteEnded(ageMs: number): Promise<number> {
    for (let deleted = 0; ; ) {
      const [row] = await this.parts.database.run(DELETE_ENDED, [ageMs], true);
      deleted += row?.count;
      if (row?.count < 1_000) return deleted;
    }
  }

  async countEnded(ageMs: number) {
    const [row] = await this.parts.database.read(COUNT_ENDED, [ageMs]);
    return { old: row?.old as number, all: row?.all as number };
  }

  async counts(): Promise<StoreCounts> {
    const [rows, [due]] = await Promise.all([
      this.parts.database.read(COUNTS, []),
      this.parts.database.read(NEXT_DUE, []),
    ]);
    const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
    for (const { status, count } of rows) states[status as KnownStatus] = count;
    return { states, oldestDueMs: Math.max(0, -(due?.ms ?? 0)) };
  }

  async ready(): Promise<void> {
    const [row] = await this.parts.database.read(READY, []);
    if (row?.writable !== true) throw new StoreUnavailableError("the database is a standby");
  }

  giveUp(): void {
    this.parts.database.giveUp();
  }

  async close(): Promise<void> {
    this.giveUp();
    await this.parts.claims.close();
    await this.parts.database.close();
  }

  async #rateLimited(keyId: string, operation: "create" | "stop", limit: number): Promise<RateLimited> {
    const [row] = await this.parts.database.read(RETRY_AFTER, [keyId, operation, limit]);
    return { kind: "rate-limited", retryAfterMs: Math.max(0, row?.ms ?? 0) };
  }

  /** The first one at once; what comes while it waits shares the next. A worker also looks by itself. */
  async #notifyWorkers(): Promise<void> {
    if (this.#notifying !== "idle") {
      this.#notifying = "repeat";
      return;
    }
    do {
      this.#notifying = "waiting";
      await this.parts.database.run(WORK, []).catch(() => {});
      await this.parts.clock.sleep(NOTIFY_MS);
    } while ((this.#notifying as string) === "repeat");
    this.#notifying = "idle";
  }
}
