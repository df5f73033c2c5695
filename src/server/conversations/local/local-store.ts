import { isFinal, isRequestId } from "../../../protocol/conversation.js";
import { KeyedMutex } from "../../keyed-mutex.js";
import type { KeyStore } from "../../keys/key-store.js";
import type { ResearchJob } from "../../researchers/researcher.js";
import type { Conversation } from "../conversation.js";
import {
  type Caller,
  type Claim,
  ConversationStopped,
  type ConversationStore,
  type CreateResult,
  type Outcome,
  type StopResult,
  type StoreCounts,
  StoreUnavailableError,
} from "../conversation-store.js";
import type { Contents } from "./contents.js";
import { DueQueue } from "./due-queue.js";
import type { Count } from "./hourly-limits/hourly-windows.js";
import type { EndedEntry, Entry } from "./journal/entries.js";
import type { Line } from "./journal/journal.js";
import { LocalOverview } from "./local-overview.js";
import { LocalRemote, remoteOf } from "./local-remote.js";
import type { Row } from "./local-state.js";
import type { LocalStoreParts } from "./local-store-parts.js";

/** How many deletions are written together. */
const DELETED_AT_ONCE = 1_000;
/** Between two tries to read a job, ms. */
const REREAD_MS = 5_000;

/** The store of one process, which holds the states in memory; jobs and outputs where `journal` and `outputs` do. */
export class LocalStore implements ConversationStore {
  readonly keys: KeyStore;
  readonly exchanges: Contents["exchanges"];
  readonly overview: LocalOverview;
  readonly remote: LocalRemote;
  readonly #due: DueQueue;
  readonly #claims = new Map<string, { claim: Claim; controller: AbortController; progress?: string }>();
  /** One change of a conversation at a time: it is checked against a state that stays until it is written. */
  readonly #changes = new KeyedMutex();
  constructor(private readonly parts: LocalStoreParts) {
    this.keys = parts.keys;
    this.exchanges = parts.contents.exchanges;
    this.overview = new LocalOverview(parts);
    this.remote = new LocalRemote({
      ...{ state: parts.state, clock: parts.clock, changes: this.#changes },
      holds: (claim) => this.#holds(claim),
      append: (entry) => this.#append([entry]),
    });
    this.#due = new DueQueue(parts.clock);
    for (const { requestId, status } of parts.state.rows.values()) {
      if (!isFinal(status)) this.#due.add(requestId, parts.pendingMs);
    }
  }

  async create({ keyId: key, limits }: Caller, job: ResearchJob): Promise<CreateResult> {
    const { clock, state, pendingMs } = this.parts;
    const at = clock.now();
    const count: Count = { operation: "create", key, at };
    const limited = state.take(count, limits.create);
    if (limited) return { kind: "rate-limited", ...limited };
    await this.#append([{ kind: "created", job, key, at }], count);
    this.#due.add(job.request_id, pendingMs);
    return { kind: "created", createdAt: at };
  }

  async get(caller: Caller, requestId: string): Promise<Conversation | undefined> {
    const row = this.#visible(caller, requestId);
    const progress = this.#claims.get(requestId)?.progress;
    return row && progress !== undefined ? { ...row, progress } : row;
  }

  async output(caller: Caller, requestId: string) {
    const row = this.#visible(caller, requestId);
    if (row === undefined || !isFinal(row.status)) return row && { conversation: row };
    const { contents } = this.parts;
    try {
      const output = row.status === "COMPLETED" ? { output: await contents.outputOf(row) } : {};
      return { conversation: row, ...output, ...(await contents.dataOf(row)) };
    } catch (error) {
      // It may have been deleted meanwhile.
      if (this.#visible(caller, requestId) === undefined) return undefined;
      throw new StoreUnavailableError(`The output of ${requestId} cannot be read.`, { cause: error });
    }
  }

  async stop(caller: Caller, requestId: string): Promise<StopResult> {
    const count: Count = { operation: "stop", key: caller.keyId, at: this.parts.clock.now() };
    const limit = caller.limits.stop;
    const limited = this.parts.state.take(count, limit);
    if (limited) return { kind: "rate-limited", ...limited };
    const counted: Entry[] = Number.isFinite(limit) ? [{ kind: "counted", ...count }] : [];
    return this.#changes.run(requestId, async () => {
      const row = this.#visible(caller, requestId);
      const stops = row !== undefined && !isFinal(row.status);
      const ended_at = this.parts.clock.now();
      const remote = stops ? row.remote : undefined;
      const end: Entry[] = stops ? [endedEntry(row, "STOPPED", ended_at)] : [];
      if (remote?.remote_id !== undefined) end.push({ ...remote, cancel: true });
      const status = row?.status;
      if (stops) await this.parts.contents.keepJob(row);
      await this.#append([...counted, ...end], count);
      if (status === undefined) return { kind: "not-found" };
      if (!stops) return { kind: "already-ended", status };
      this.#due.delete(requestId);
      this.#claims.get(requestId)?.controller.abort(new ConversationStopped("the conversation was stopped"));
      this.#claims.delete(requestId);
      await this.exchanges.delete(requestId);
      return { kind: "stopped", ...(remote && { remote: remoteOf(remote) }) };
    });
  }

  async claim(signal: AbortSignal): Promise<Claim> {
    for (;;) {
      const requestId = await this.#due.take(signal);
      const row = this.parts.state.rows.get(requestId);
      const job = row && (await this.#jobOf(row));
      // It may have been stopped meanwhile.
      if (row === undefined || job === undefined || isFinal(row.status)) continue;
      row.status = "PROCESSING";
      row.startedAt ??= this.parts.clock.now();
      const controller = new AbortController();
      const claim: Claim = { job, starts: 1, signal: controller.signal };
      this.#claims.set(requestId, { claim, controller });
      return claim;
    }
  }

  async end(claim: Claim, outcome: Outcome): Promise<boolean> {
    const requestId = claim.job.request_id;
    const { status } = outcome;
    const { clock, contents } = this.parts;
    if (!this.#holds(claim)) return false;
    await contents.write(requestId, outcome);
    const ended = await this.#changes.run(requestId, async () => {
      const row = this.parts.state.rows.get(requestId);
      if (!this.#holds(claim) || row === undefined) return false;
      const reason = outcome.status === "FAILED" ? { reason: outcome.reason } : {};
      await contents.keepJob(row);
      await this.#append([{ ...endedEntry(row, status, clock.now()), ...reason }]);
      this.#claims.delete(requestId);
      return true;
    });
    if (!ended) await contents.deleteOutput(requestId);
    return ended;
  }

  async tell(claim: Claim, progress: string): Promise<void> {
    const held = this.#claims.get(claim.job.request_id);
    if (held?.claim === claim) held.progress = progress;
  }

  async giveBack(claim: Claim): Promise<void> {
    if (!this.#holds(claim)) return;
    this.#claims.delete(claim.job.request_id);
    this.#due.addFirst(claim.job.request_id);
  }

  async deleteEnded(ageMs: number): Promise<number> {
    const { clock, contents } = this.parts;
    const old = this.#endedBefore(clock.now() - ageMs);
    for (let from = 0; from < old.length; from += DELETED_AT_ONCE) {
      const some = old.slice(from, from + DELETED_AT_ONCE);
      await this.#append(some.map(({ requestId }) => ({ kind: "deleted", request_id: requestId })));
      for (const { requestId } of some) await contents.delete(requestId);
    }
    return old.length;
  }

  async countEnded(ageMs: number) {
    const { clock, state } = this.parts;
    return { old: this.#endedBefore(clock.now() - ageMs).length, all: state.rows.size };
  }

  async counts(): Promise<StoreCounts> {
    return {
      waiting: this.#due.size,
      working: this.#claims.size,
      workers: 1,
      oldestDueMs: this.#due.overdueMs(),
      cancellations: this.parts.state.cancellations.size,
    };
  }

  ready(): Promise<void> {
    return this.parts.journal.check();
  }

  async close(): Promise<void> {
    await this.parts.beforeClose();
    await this.keys.close();
    await this.parts.journal.close().finally(this.parts.unlock);
  }

  #visible({ keyId, ownOnly }: Caller, requestId: string): Row | undefined {
    const row = isRequestId(requestId) ? this.parts.state.rows.get(requestId) : undefined;
    return ownOnly && row?.key !== keyId ? undefined : row;
  }

  #endedBefore(time: number): Row[] {
    return [...this.parts.state.rows.values()].filter(
      ({ requestId, endedAt = Infinity }) => endedAt < time && !this.parts.state.cancellations.has(requestId),
    );
  }

  #holds(claim: Claim): boolean {
    return this.#claims.get(claim.job.request_id)?.claim === claim;
  }

  /** Writes entries and takes them in; a count of a write that failed does not count. */
  async #append(entries: Entry[], count?: Count): Promise<void> {
    const { journal, state } = this.parts;
    const apply = (lines: readonly Line[]) => {
      if (count) state.written(count);
      for (const [index, entry] of entries.entries()) {
        const line = lines[index] ?? { offset: 0, length: 0 };
        const job = state.rows.get("request_id" in entry ? entry.request_id : "")?.line;
        const dead = state.apply(entry, line);
        if (dead > 0) journal.release(job ?? line, dead);
      }
    };
    try {
      if (entries.length > 0) await journal.append({ entries, apply });
      else apply([]);
    } catch (error) {
      if (count) state.release(count);
      throw error;
    }
  }

  /** Undefined if it cannot be read just now: the disk may recover, and nothing else can be done for it. */
  async #jobOf(row: Row): Promise<ResearchJob | undefined> {
    try {
      return await this.parts.contents.jobOf(row);
    } catch (error) {
      this.parts.log(`a job cannot be read: ${error instanceof Error ? error.message : error}`, {
        request_id: row.requestId,
      });
      this.#due.add(row.requestId, REREAD_MS);
      return undefined;
    }
  }
}

function endedEntry(
  { requestId, startedAt }: Row,
  status: EndedEntry["status"],
  endedAt: number,
): EndedEntry {
  const started = startedAt === undefined ? {} : { started_at: startedAt };
  return { kind: "ended", request_id: requestId, status, ended_at: endedAt, ...started };
}
