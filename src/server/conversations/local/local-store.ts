import type { Clock } from "../../../ground/clock.js";
import { exactJson, parseExact } from "../../../ground/json/exact-json.js";
import { isFinal, isRequestId } from "../../../ground/protocol/conversation.js";
import type { ExchangeStore, ResearchFacts, ResearchJob } from "../../../ground/researcher.js";
import { KeyedMutex } from "../../../ground/semaphore.js";
import { errorText } from "../../../ground/text/phrases.js";
import type { KeyStore, ServiceKey } from "../../keys/key-store.js";
import {
  billIn,
  type Caller,
  type Claim,
  type Conversation,
  ConversationStopped,
  type ConversationStore,
  type CreateResult,
  type ListedConversation,
  NOT_SENT,
  type Outcome,
  type Overview,
  type RemoteRequest,
  type RemoteRequests,
  type StopResult,
  type StoreCounts,
  StoreUnavailableError,
  WAIT_LIMIT_MS,
} from "../conversation-store.js";
import { type Gate, gateAfter, OPEN, PROBE_MS, refusalBy } from "../create-gate.js";
import { mayBegin, overBudget, spentIn } from "./budgets.js";
import type { Contents } from "./contents.js";
import { DueQueue } from "./due-queue.js";
import type { Journal } from "./journal.js";
import type { Entry, RemoteEntry } from "./journal-entries.js";
import { type Count, entryOfBill, type LocalState, type StoredConversation } from "./local-state.js";

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
  /** As they were last read. */
  #keys: readonly ServiceKey[] = [];
  #facts: ResearchFacts = {};
  readonly #due: DueQueue;
  /** What has been begun at another service before this process, or by a claim that was given back. */
  readonly #begun: DueQueue;
  readonly #claims = new Map<string, { claim: Claim; controller: AbortController; progress?: string }>();
  /** One change of a conversation at a time: it is checked against a state that stays until it is written. */
  readonly #changes = new KeyedMutex();
  constructor(private readonly parts: LocalStoreParts) {
    this.keys = parts.keys;
    this.exchanges = parts.contents.exchanges;
    this.overview = overviewOf(parts);
    this.remote = this.#remote();
    this.#due = new DueQueue(parts.clock);
    this.#begun = new DueQueue(parts.clock);
    for (const { requestId, status, key, remote } of parts.state.rows.values())
      if (!isFinal(status)) (remote ? this.#begun : this.#due).add(key, requestId, parts.pendingMs);
  }

  async create({ keyId: key, limits, budgets = {} }: Caller, job: ResearchJob): Promise<CreateResult> {
    const { clock, state, pendingMs } = this.parts;
    const { model, saysDollars = true } = this.#facts;
    const at = clock.now();
    const count: Count = { operation: "create", key, at };
    if (budgets.dollars && !saysDollars) return { kind: "not-measured" };
    const over = overBudget(state, count, budgets, model);
    if (over) return over;
    const limited = state.take(count, limits.create);
    if (limited) return { kind: "rate-limited", ...limited };
    await this.#append([{ kind: "created", job, key, at, model }], count);
    this.#due.add(key, job.request_id, pendingMs);
    return { kind: "created", createdAt: at };
  }

  async get(caller: Caller, requestId: string): Promise<Conversation | undefined> {
    const row = this.#visible(caller, requestId);
    const { progress } = this.#claims.get(requestId) ?? {};
    const place = row?.status === "PENDING" ? this.#due.placeOf(row.key, requestId) : undefined;
    if (row && place) return { ...row, progress: JSON.stringify({ step: "queue", ...place }) };
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
      for (const queue of [this.#due, this.#begun]) queue.delete(row.key, requestId);
      this.#claims.get(requestId)?.controller.abort(new ConversationStopped("the conversation was stopped"));
      this.#claims.delete(requestId);
      this.#due.look();
      await this.parts.contents.deleteExchanges(requestId);
      return { kind: "stopped", ...(remote && { remote: remoteOf(remote) }) };
    });
  }

  async claim(signal: AbortSignal): Promise<Claim> {
    const { row, claim } = await this.#claim(this.#begun.size > 0 ? this.#begun : this.#due, signal);
    row.status = "PROCESSING";
    row.startedAt ??= this.parts.clock.now();
    return claim;
  }

  async #claim(queue: DueQueue, signal: AbortSignal, closedMs?: () => number) {
    for (;;) {
      const requestId = await queue.take(signal, closedMs, () => this.#beginners(queue));
      const row = this.parts.state.rows.get(requestId);
      // It may have been stopped meanwhile.
      if (row?.job === undefined) continue;
      if (row.remote === undefined) row.bill = { model: this.#facts.model };
      const controller = new AbortController();
      const claim: Claim = { job: row.job, starts: 1, signal: controller.signal };
      this.#claims.set(requestId, { claim, controller });
      return { row, claim };
    }
  }

  /** Which keys may begin another conversation just now. What has begun goes on. */
  async #beginners(queue: DueQueue): Promise<(key: string) => boolean> {
    if (queue === this.#begun) return () => true;
    const { clock, state } = this.parts;
    this.#keys = await this.keys.list().catch(() => this.#keys);
    const budgets = new Map(this.#keys.map((key) => [key.id, key.budgets ?? {}]));
    return (key) => {
      const { atOnce, dollars } = budgets.get(key) ?? {};
      if (atOnce === undefined && dollars === undefined) return true;
      const running = [...this.#claims.keys(), ...this.#begun.names(key)].flatMap((requestId) => {
        const row = state.rows.get(requestId);
        return row?.key === key ? [row] : [];
      });
      return mayBegin(state, { key, now: clock.now() }, { atOnce, dollars }, running);
    };
  }

  async researchesWith(facts: ResearchFacts): Promise<void> {
    this.#facts = facts;
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
      this.#due.look();
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
    if (this.#holds(claim)) this.#putBack(claim.job.request_id);
  }

  #putBack(requestId: string): void {
    const row = this.parts.state.rows.get(requestId);
    this.#claims.delete(requestId);
    if (row?.job) (row.remote ? this.#begun : this.#due).addFirst(row.key, requestId);
  }

  async deleteEnded(ageMs: number): Promise<number> {
    const { clock, contents, state } = this.parts;
    const isOld = ({ requestId, endedAt = Infinity }: StoredConversation) =>
      endedAt < clock.now() - ageMs && !state.cancellations.has(requestId);
    const old = [...state.rows.values()].filter(isOld);
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

  async counts(): Promise<StoreCounts> {
    return {
      waiting: this.#due.size + this.#begun.size,
      working: this.#claims.size,
      workers: 1,
      oldestDueMs: Math.max(this.#due.overdueMs(), this.#begun.overdueMs()),
      cancellations: this.parts.state.cancellations.size,
      isRefused: this.parts.state.gate?.gate.kind !== undefined,
    };
  }

  readonly ready = () => this.parts.journal.check();
  readonly close = () => this.parts.close();

  #visible({ keyId, ownOnly }: Caller, requestId: string): StoredConversation | undefined {
    const row = isRequestId(requestId) ? this.parts.state.rows.get(requestId) : undefined;
    return ownOnly && row?.key !== keyId ? undefined : row;
  }

  #holds(claim: Claim): boolean {
    return this.#claims.get(claim.job.request_id)?.claim === claim;
  }

  /** The entry of a conversation's end, and its job kept for who looks at it later: the end matters more than that. */
  async #endOf(
    { requestId, startedAt, job, bill }: StoredConversation,
    { status, reason, data }: { status: "COMPLETED" | "FAILED" | "STOPPED"; reason?: string; data?: string },
  ): Promise<Entry> {
    await this.parts.contents.write("ended-jobs", requestId, exactJson(job)).catch(() => {});
    const ended_at = this.parts.clock.now();
    const said = billIn(data);
    const cost = entryOfBill({ ...said, model: bill.model ?? said.model });
    return { kind: "ended", request_id: requestId, status, started_at: startedAt, ended_at, reason, ...cost };
  }

  async #deleteOutput(requestId: string): Promise<void> {
    await this.parts.contents.delete("outcome-data", requestId);
    await this.parts.contents.delete("outputs", requestId);
  }

  #remote(): RemoteRequests {
    const { clock, state } = this.parts;
    /** Cancellations that somebody works on, by when they are due again (monotonic ms). */
    const hidden = new Map<string, number>();
    /** Stopped ones whose create was under way when an earlier process ended. */
    const isLost = ({ status, remote }: StoredConversation) =>
      status === "STOPPED" && remote && !remote.remote_id && !remote.lost;
    const lost = [...state.rows.values()].filter(isLost);
    const said = state.gate;
    const left = said ? Math.min(said.gate.waitMs, said.at + said.gate.waitMs - clock.now()) : 0;
    /** When the next create may be tried, monotonic ms. */
    let nextAt = clock.monotonic() + left;
    /** How often the gate has changed, and the number of it when a claim was made. */
    let changes = 0;
    const changesAt = new WeakMap<Claim, number>();
    const gateNow = (): Gate => {
      const gate = state.gate?.gate ?? OPEN;
      return { ...gate, waitMs: Math.max(0, nextAt - clock.monotonic()) };
    };
    const closedMs = () => (state.gate?.gate.kind ? nextAt - clock.monotonic() : 0);
    /** How many wait to be sent, those included that are just tried. */
    const waiting = (keyId?: string) => {
      const tried = [...this.#claims.keys()].filter((requestId) => {
        const row = state.rows.get(requestId);
        return row?.status === "PENDING" && (keyId === undefined || row.key === keyId);
      });
      return tried.length + (keyId === undefined ? this.#due.size : this.#due.sizeOf(keyId));
    };
    const isTooOld = ({ createdAt }: StoredConversation) => clock.now() - createdAt > WAIT_LIMIT_MS;
    const known = (requestId: string) => state.rows.get(requestId)?.remote;
    return {
      read: async (requestId) => {
        const entry = known(requestId);
        return entry && { ...remoteOf(entry), mayComeMs: 0 };
      },
      claim: async (which, signal) => {
        if (which === "begun") {
          const { row, claim } = await this.#claim(this.#begun, signal);
          if (row.remote?.remote_id) row.startedAt ??= clock.now();
          return claim;
        }
        for (;;) {
          const { row, claim } = await this.#claim(this.#due, signal, closedMs);
          // It was found, and `expire` ends it.
          if (isTooOld(row)) this.#claims.delete(row.requestId);
          else {
            if (state.gate?.gate.kind) nextAt = clock.monotonic() + PROBE_MS;
            changesAt.set(claim, changes);
            return claim;
          }
        }
      },
      begin: (claim, { at, provider, canStop }, day) => {
        const { request_id } = claim.job;
        return this.#changes.run(request_id, async () => {
          if (!this.#holds(claim) || known(request_id) !== undefined) return false;
          const entries: Entry[] = [{ kind: "remote", request_id, at, provider, can_stop: canStop }];
          if (day) {
            const now = clock.now();
            const fullMs = state.fullMs(day, now);
            if (fullMs > 0) return { fullMs };
            const sent = { kind: "sent", request_id, account: day.account, at: now } as const;
            // At once: others may be counted while it is written.
            state.apply(sent);
            entries.push(sent);
          }
          await this.#append(entries).catch((error) => {
            state.apply({ kind: "unsent", request_id });
            throw error;
          });
          return true;
        });
      },
      keep: ({ job: { request_id } }, remote_id) =>
        this.#changes.run(request_id, async () => {
          const { remote, status } = state.rows.get(request_id) ?? {};
          if (remote === undefined || (status && status !== "STOPPED" && isFinal(status))) return "ended";
          const stopped = status === "STOPPED";
          await this.#append([{ ...remote, remote_id, ...(stopped && { cancel: true }) }]);
          const row = state.rows.get(request_id);
          if (row) row.startedAt ??= clock.now();
          return stopped ? "stopped" : "kept";
        }),
      release: (claim, reason) => {
        const { request_id } = claim.job;
        return this.#changes.run(request_id, async () => {
          if (known(request_id)?.remote_id !== undefined) return;
          await this.#append([{ kind: "released", request_id, reason }]);
          if (this.#holds(claim)) this.#putBack(request_id);
        });
      },
      takeLost: async () => {
        const [row] = lost;
        if (row?.remote === undefined) return undefined;
        await this.#append([{ ...row.remote, lost: true }]);
        lost.shift();
        return { requestId: row.requestId, provider: row.remote.provider };
      },
      expire: async () => {
        for (const { requestId } of [...state.rows.values()].filter(isTooOld))
          await this.#changes.run(requestId, async () => {
            const row = state.rows.get(requestId);
            if (row?.status !== "PENDING" || row.remote || this.#claims.has(requestId)) return;
            const reason = NOT_SENT + (row.reason ?? state.gate?.gate.reason ?? "");
            await this.#append([await this.#endOf(row, { status: "FAILED", reason: reason.trim() })]);
            this.#due.delete(row.key, requestId);
          });
      },
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
      answered: async (claim, answer) => {
        const row = state.rows.get(claim.job.request_id);
        if (answer.kind === "unknown" && row && isLost(row)) lost.push(row);
        if (answer.kind === "open" && answer.isRefused && state.sent.has(claim.job.request_id))
          await this.#append([{ kind: "unsent", request_id: claim.job.request_id }]);
        const gate = gateAfter(gateNow(), answer, changesAt.get(claim) !== changes);
        if (gate === OPEN && (state.gate?.gate ?? OPEN) === OPEN) return;
        changes += 1;
        nextAt = clock.monotonic() + gate.waitMs;
        await this.#append([{ kind: "gate", at: clock.now(), gate }]);
      },
      refusal: async (keyId) =>
        state.gate?.gate.kind && refusalBy(gateNow(), { ofKey: waiting(keyId), ofAll: waiting() }),
    };
  }

  /** Writes entries and takes them in; a count of a write that failed does not count. */
  async #append(entries: Entry[], count?: Count): Promise<void> {
    const { journal, state } = this.parts;
    const apply = () => {
      if (count) state.unwritten.delete(count);
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
  const listed = (row: StoredConversation): ListedConversation => ({ ...row, keyId: row.key });
  return {
    async states() {
      const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
      for (const { status } of state.rows.values()) states[status] += 1;
      return states;
    },
    async newest(limit, status) {
      // The rows stand in the order in which they were created.
      const rows = [...state.rows.values()]
        .filter((row) => status === undefined || row.status === status)
        .slice(-limit);
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
      return (parseExact(kept, "output_schema") as ResearchJob | null) ?? undefined;
    },
    async hours() {
      const at = clock.now();
      return { at, counts: state.hours(at) };
    },
    spent: async (by, sinceMs = Number.POSITIVE_INFINITY) => spentIn(state, by, clock.now() - sinceMs),
  };
}
