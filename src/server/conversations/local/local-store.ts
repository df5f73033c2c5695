import type { Clock } from "../../../clock.js";
import { exactJson, parseExactAt } from "../../../json/exact-json.js";
import { isFinal, isRequestId } from "../../../protocol/conversation.js";
import { KeyedMutex } from "../../../semaphore.js";
import { errorText } from "../../../text/phrases.js";
import type { KeyStore } from "../../keys/key-store.js";
import type { ResearchJob } from "../../researchers/researcher.js";
import {
  type Caller,
  type Claim,
  COST_DAYS,
  type Conversation,
  ConversationStopped,
  type ConversationStore,
  type CreateResult,
  costIn,
  type ExchangeStore,
  type HourlyCount,
  type KeyCost,
  type ListedConversation,
  type Outcome,
  type Overview,
  PROBE_MS,
  REFUSALS,
  type RemoteRequest,
  type RemoteRequests,
  type StopResult,
  type StoreCounts,
  StoreUnavailableError,
} from "../conversation-store.js";
import type { Contents } from "./contents.js";
import { DueQueue } from "./due-queue.js";
import type { Count } from "./hourly-windows.js";
import type { Journal } from "./journal.js";
import type { Entry, RemoteEntry } from "./journal-entries.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** How many deletions are written together. */
const DELETED_AT_ONCE = 1_000;

/** What a LocalStore is made of; its data folder and its memory differ in these only. */
export interface LocalStoreParts {
  keys: KeyStore;
  journal: Journal;
  contents: Contents;
  state: LocalState;
  clock: Clock;
  /** Least time in PENDING, ms. */
  pendingMs: number;
  close(): Promise<void>;
}

/** The store of one process, which holds states and unfinished jobs in memory; all else is where `contents` has it. */
export class LocalStore implements ConversationStore {
  readonly keys: KeyStore;
  readonly exchanges: ExchangeStore;
  readonly overview: Overview;
  readonly remote: RemoteRequests;
  readonly #due: DueQueue;
  readonly #claims = new Map<string, { claim: Claim; controller: AbortController; progress?: string }>();
  /** One change of a conversation at a time: it is checked against a state that stays until it is written. */
  readonly #changes = new KeyedMutex();
  constructor(private readonly parts: LocalStoreParts) {
    this.keys = parts.keys;
    this.exchanges = parts.contents.exchanges;
    this.overview = overviewOf(parts);
    this.remote = this.#remote();
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
      const output = row.status === "COMPLETED" ? await contents.read("outputs", requestId) : undefined;
      const data = await contents.read("outcome-data", requestId).catch(() => undefined);
      return { conversation: row, output, data };
    } catch (cause) {
      // It may have been deleted meanwhile.
      if (this.#visible(caller, requestId) === undefined) return undefined;
      throw new StoreUnavailableError(`The output of ${requestId} cannot be read.`, { cause });
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
      if (row === undefined || isFinal(row.status)) {
        const status = row?.status;
        await this.#append(counted, count);
        return status === undefined ? { kind: "not-found" } : { kind: "already-ended", status };
      }
      const { remote } = row;
      const end = await this.#endOf(row, { status: "STOPPED" });
      const cancel: Entry[] = remote?.remote_id === undefined ? [] : [{ ...remote, cancel: true }];
      await this.#append([...counted, end, ...cancel], count);
      this.#due.delete(requestId);
      this.#claims.get(requestId)?.controller.abort(new ConversationStopped("the conversation was stopped"));
      this.#claims.delete(requestId);
      await this.parts.contents.deleteExchanges(requestId);
      return { kind: "stopped", ...(remote && { remote: remoteOf(remote) }) };
    });
  }

  async claim(signal: AbortSignal): Promise<Claim> {
    for (;;) {
      const requestId = await this.#due.take(signal);
      const row = this.parts.state.rows.get(requestId);
      // It may have been stopped meanwhile.
      if (row?.job === undefined) continue;
      row.status = "PROCESSING";
      row.startedAt ??= this.parts.clock.now();
      const controller = new AbortController();
      const claim: Claim = { job: row.job, starts: 1, signal: controller.signal };
      this.#claims.set(requestId, { claim, controller });
      return claim;
    }
  }

  async end(claim: Claim, outcome: Outcome): Promise<boolean> {
    const requestId = claim.job.request_id;
    const { contents, state } = this.parts;
    if (!this.#holds(claim)) return false;
    try {
      if (outcome.data !== undefined) await contents.write("outcome-data", requestId, outcome.data);
      if (outcome.status === "COMPLETED") await contents.write("outputs", requestId, outcome.output);
    } catch (cause) {
      throw new StoreUnavailableError(`The output could not be written: ${errorText(cause)}`, { cause });
    }
    const ended = await this.#changes.run(requestId, async () => {
      const row = state.rows.get(requestId);
      if (!this.#holds(claim) || row === undefined) return false;
      await this.#append([await this.#endOf(row, outcome)]);
      this.#claims.delete(requestId);
      return true;
    });
    if (!ended) await this.#deleteOutput(requestId);
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
      for (const { requestId } of some) {
        await contents.deleteExchanges(requestId);
        await contents.delete("ended-jobs", requestId);
        await this.#deleteOutput(requestId);
      }
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

  close(): Promise<void> {
    return this.parts.close();
  }

  #visible({ keyId, ownOnly }: Caller, requestId: string): StoredConversation | undefined {
    const row = isRequestId(requestId) ? this.parts.state.rows.get(requestId) : undefined;
    return ownOnly && row?.key !== keyId ? undefined : row;
  }

  #endedBefore(time: number): StoredConversation[] {
    return [...this.parts.state.rows.values()].filter(
      ({ requestId, endedAt = Infinity }) => endedAt < time && !this.parts.state.cancellations.has(requestId),
    );
  }

  #holds(claim: Claim): boolean {
    return this.#claims.get(claim.job.request_id)?.claim === claim;
  }

  /** The entry of a conversation's end, and its job kept for who looks at it later: the end matters more than that. */
  async #endOf(
    { requestId, startedAt, job }: StoredConversation,
    { status, reason, data }: { status: "COMPLETED" | "FAILED" | "STOPPED"; reason?: string; data?: string },
  ): Promise<Entry> {
    await this.parts.contents.write("ended-jobs", requestId, exactJson(job)).catch(() => {});
    const ended_at = this.parts.clock.now();
    const cost_dollars = costIn(data);
    return {
      kind: "ended",
      request_id: requestId,
      status,
      started_at: startedAt,
      ended_at,
      reason,
      cost_dollars,
    };
  }

  async #deleteOutput(requestId: string): Promise<void> {
    await this.parts.contents.delete("outcome-data", requestId);
    await this.parts.contents.delete("outputs", requestId);
  }

  #remote(): RemoteRequests {
    const { clock, state } = this.parts;
    /** Cancellations that somebody works on, by when they are due again (monotonic ms). */
    const hidden = new Map<string, number>();
    let refusals = 0;
    /** When the next one may be begun in spite of the refusals, monotonic ms. */
    let nextAt = { conversation: 0, create: 0 };
    const known = (requestId: string) => state.rows.get(requestId)?.remote;
    return {
      read: async (requestId) => {
        const entry = known(requestId);
        return entry && { ...remoteOf(entry), mayComeMs: 0 };
      },
      begin: (claim, { at, provider, canStop }) => {
        const { request_id } = claim.job;
        return this.#changes.run(request_id, async () => {
          if (!this.#holds(claim) || known(request_id) !== undefined) return false;
          await this.#append([{ kind: "remote", request_id, at, provider, can_stop: canStop }]);
          return true;
        });
      },
      keep: ({ job: { request_id } }, remote_id) =>
        this.#changes.run(request_id, async () => {
          const { remote, status } = state.rows.get(request_id) ?? {};
          if (remote === undefined || (status && status !== "STOPPED" && isFinal(status))) return "ended";
          const stopped = status === "STOPPED";
          await this.#append([{ ...remote, remote_id, ...(stopped && { cancel: true }) }]);
          return stopped ? "stopped" : "kept";
        }),
      takeCancellation: async (at, forMs) => {
        const now = clock.monotonic();
        for (const requestId of state.cancellations) {
          const remote = known(requestId);
          if (remote?.at !== at || (hidden.get(requestId) ?? now) > now) continue;
          hidden.set(requestId, now + forMs);
          return { requestId, remoteId: remote.remote_id ?? "", provider: remote.provider };
        }
        return undefined;
      },
      cancelled: async (requestId) => {
        const remote = known(requestId);
        if (remote !== undefined) await this.#append([{ ...remote, cancel: false }]);
        hidden.delete(requestId);
      },
      answered: async (isRefused) => {
        refusals = isRefused ? refusals + 1 : 0;
        const next = clock.monotonic() + PROBE_MS;
        if (refusals === REFUSALS) nextAt = { conversation: next, create: next };
      },
      busyMs: async (what) => {
        const now = clock.monotonic();
        if (refusals < REFUSALS) return 0;
        if (now < nextAt[what]) return nextAt[what] - now;
        nextAt[what] = now + PROBE_MS;
        return 0;
      },
    };
  }

  /** Writes entries and takes them in; a count of a write that failed does not count. */
  async #append(entries: Entry[], count?: Count): Promise<void> {
    const { journal, state } = this.parts;
    const apply = () => {
      if (count) state.written(count);
      for (const entry of entries) state.apply(entry);
    };
    try {
      if (entries.length > 0) await journal.append(entries, apply);
      else apply();
    } catch (error) {
      if (count) state.release(count);
      throw error;
    }
  }
}

function remoteOf({ at, provider, can_stop: canStop, remote_id: remoteId }: RemoteEntry): RemoteRequest {
  return { at, provider, canStop, remoteId };
}

function overviewOf({ clock, contents, state }: LocalStoreParts): Overview {
  const listed = ({ key: keyId, job: _, remote: __, ...row }: StoredConversation): ListedConversation => ({
    keyId,
    ...row,
  });
  return {
    async states() {
      const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
      for (const { status } of state.rows.values()) states[status] += 1;
      return states;
    },
    async newest(limit) {
      // The rows stand in the order in which they were created.
      const rows = [...state.rows.values()].slice(-limit);
      return { at: clock.now(), conversations: rows.reverse().map(listed) };
    },
    async find(requestId) {
      const row = state.rows.get(requestId);
      return row && { at: clock.now(), conversation: listed(row) };
    },
    async job(requestId) {
      const row = state.rows.get(requestId);
      if (row === undefined || row.job !== undefined) return row?.job;
      const kept = await contents.read("ended-jobs", requestId).catch(() => "null");
      return (parseExactAt(kept, "output_schema") as ResearchJob | null) ?? undefined;
    },
    async hours() {
      const at = clock.now();
      const counts = new Map<string, HourlyCount & { times: number[] }>();
      for (const { operation, key: keyId, at: time } of state.windows.counts(at)) {
        const name = `${operation} ${keyId}`;
        const count = counts.get(name) ?? { keyId, operation, times: [] };
        count.times.push(time);
        counts.set(name, count);
      }
      return { at, counts: [...counts.values()] };
    },
    async costs() {
      const since = clock.now() - COST_DAYS * 86_400_000;
      const costs = new Map<string, KeyCost>();
      for (const { key: keyId, costDollars, endedAt = 0 } of state.rows.values()) {
        if (costDollars === undefined || endedAt <= since) continue;
        const { dollars, conversations } = costs.get(keyId) ?? { dollars: 0, conversations: 0 };
        costs.set(keyId, { keyId, dollars: dollars + costDollars, conversations: conversations + 1 });
      }
      return [...costs.values()];
    },
  };
}
