import type { Clock } from "../../../core/clock.js";
import { isFinal, isRequestId } from "../../../core/protocol/conversation.js";
import type { ExchangeStore, ResearcherFacts, ResearchJob } from "../../../core/researcher.js";
import { describeError } from "../../../core/text/format-text.js";
import type { KeyStore } from "../../keys/key-store.js";
import { findBudgetRefusal } from "../budget-rules.js";
import {
  type Caller,
  type Claim,
  type Conversation,
  type ConversationStore,
  type CreateResult,
  type Outcome,
  type Overview,
  type StopResult,
  type StoreCounts,
  StoreUnavailableError,
} from "../conversation-store.js";
import type { ContentStore } from "./content-store.js";
import type { Journal } from "./journal.js";
import type { JournalEntry } from "./journal-entries.js";
import { JournalWriter } from "./journal-writer.js";
import { LocalClaims } from "./local-claims.js";
import { createLocalOverview } from "./local-overview.js";
import type { Count, LocalState, StoredConversation } from "./local-state.js";
import { buildRemoteRequest, LocalUpstreamRequests } from "./upstream-requests.js";

/** Maximum number of deletions in one write. */
const DELETED_AT_ONCE = 1_000;

/** The parts in which stores with and without a data folder differ, and the times. */
export interface LocalStoreParts {
  keys: KeyStore;
  journal: Journal;
  contents: ContentStore;
  state: LocalState;
  clock: Clock;
  /** Minimum time in PENDING, in ms. */
  pendingMs: number;
  close(): Promise<void>;
}

/** The store of a single process. Keeps states and unfinished jobs in memory, and everything else in `contents`. */
export class LocalStore implements ConversationStore {
  readonly keys: KeyStore;
  readonly exchanges: ExchangeStore;
  readonly overview: Overview;
  readonly remote: LocalUpstreamRequests;
  readonly #claims: LocalClaims;
  readonly #writes: JournalWriter;
  constructor(private readonly parts: LocalStoreParts) {
    this.keys = parts.keys;
    this.exchanges = parts.contents.exchanges;
    this.#claims = new LocalClaims(parts);
    this.overview = createLocalOverview({ ...parts, figures: (key) => this.#claims.computeFigures(key) });
    this.#writes = new JournalWriter(parts);
    this.remote = new LocalUpstreamRequests({ ...parts, claims: this.#claims, writes: this.#writes });
  }

  async create({ keyId: key, limits, budgets = {} }: Caller, job: ResearchJob): Promise<CreateResult> {
    const { clock, state } = this.parts;
    const { model } = this.#claims.facts;
    const at = clock.now();
    const count: Count = { operation: "create", key, at };
    const refused = findBudgetRefusal(budgets, this.#claims.computeFigures({ id: key, budgets }));
    if (refused) return refused;
    const limited = state.take(count, limits.create);
    if (limited) return { kind: "rate-limited", ...limited };
    await this.#writes.append([{ kind: "created", job, key, at, model }], count);
    this.#claims.add(key, job.request_id);
    return { kind: "created", createdAt: at };
  }

  async get(caller: Caller, requestId: string): Promise<Conversation | undefined> {
    const row = this.#findVisible(caller, requestId);
    const progress = row && this.#claims.getProgress(row, this.remote.measureClosed());
    return row && progress !== undefined ? { ...row, progress } : row;
  }

  async output(caller: Caller, requestId: string) {
    const row = this.#findVisible(caller, requestId);
    if (row === undefined || !isFinal(row.status)) return row && { conversation: row };
    const { contents } = this.parts;
    try {
      const output = row.status === "COMPLETED" ? await contents.read("outputs", requestId) : undefined;
      const data = await contents.read("outcome-data", requestId).catch(() => undefined);
      return { conversation: row, output, data };
    } catch (cause) {
      // The conversation may have been deleted in the meantime.
      if (this.#findVisible(caller, requestId) === undefined) return undefined;
      throw new StoreUnavailableError(`The output of ${requestId} cannot be read.`, { cause });
    }
  }

  async stop(caller: Caller, requestId: string): Promise<StopResult> {
    const count: Count = { operation: "stop", key: caller.keyId, at: this.parts.clock.now() };
    const limit = caller.limits.stop;
    const limited = this.parts.state.take(count, limit);
    if (limited) return { kind: "rate-limited", ...limited };
    const counted: JournalEntry[] = Number.isFinite(limit) ? [{ kind: "counted", ...count }] : [];
    return this.#writes.changes.run(requestId, async () => {
      const row = this.#findVisible(caller, requestId);
      if (row === undefined || isFinal(row.status)) {
        const status = row?.status;
        await this.#writes.append(counted, count);
        return status === undefined ? { kind: "not-found" } : { kind: "already-ended", status };
      }
      const { remote } = row;
      const end = await this.#writes.endOf(row, { status: "STOPPED" });
      const cancel: JournalEntry[] = remote?.remote_id === undefined ? [] : [{ ...remote, cancel: true }];
      await this.#writes.append([...counted, end, ...cancel], count);
      this.#claims.noteStopped(row);
      await this.parts.contents.deleteExchanges(requestId);
      return { kind: "stopped", ...(remote && { remote: buildRemoteRequest(remote) }) };
    });
  }

  async claim(signal: AbortSignal): Promise<Claim> {
    const claim = await this.#claims.claimNext(signal);
    const { request_id } = claim.job;
    // Only readers of the journal need this entry, so the work does not wait for its write.
    if (await this.keys.isInUse().catch(() => false))
      this.#writes.append([{ kind: "begun", request_id, at: this.parts.clock.now() }]).catch(() => {});
    return claim;
  }

  async declareResearch(facts: ResearcherFacts): Promise<void> {
    this.#claims.facts = facts;
    this.parts.state.unpriced.clear();
  }

  async end(claim: Claim, outcome: Outcome): Promise<boolean> {
    const requestId = claim.job.request_id;
    const { contents, state } = this.parts;
    if (!this.#claims.isHolding(claim)) return false;
    try {
      if (outcome.data !== undefined) await contents.write("outcome-data", requestId, outcome.data);
      if (outcome.status === "COMPLETED") await contents.write("outputs", requestId, outcome.output);
    } catch (cause) {
      throw new StoreUnavailableError(`The output could not be written: ${describeError(cause)}`, { cause });
    }
    const ended = await this.#writes.changes.run(requestId, async () => {
      const row = state.rows.get(requestId);
      if (!this.#claims.isHolding(claim) || row === undefined) return false;
      await this.#writes.append([await this.#writes.endOf(row, outcome)]);
      this.#claims.release(requestId);
      return true;
    });
    if (!ended) await this.#deleteOutput(requestId);
    return ended;
  }

  async tell(claim: Claim, progress: string): Promise<void> {
    this.#claims.tell(claim, progress);
  }

  async returnClaim(claim: Claim): Promise<void> {
    if (this.#claims.isHolding(claim)) this.#claims.putBack(claim.job.request_id);
  }

  async deleteEnded(ageMs: number): Promise<number> {
    const { clock, contents, state } = this.parts;
    const isOld = ({ requestId, endedAt = Infinity }: StoredConversation) =>
      endedAt < clock.now() - ageMs && !state.cancellations.has(requestId);
    const old = [...state.rows.values()].filter(isOld);
    for (let from = 0; from < old.length; from += DELETED_AT_ONCE) {
      const some = old.slice(from, from + DELETED_AT_ONCE);
      await this.#writes.append(some.map(({ requestId }) => ({ kind: "deleted", request_id: requestId })));
      for (const { requestId } of some) {
        await contents.deleteExchanges(requestId);
        await contents.delete("ended-jobs", requestId);
        await this.#deleteOutput(requestId);
      }
    }
    return old.length;
  }

  async readCounts(): Promise<StoreCounts> {
    return {
      ...this.#claims.countQueue(),
      workers: 1,
      cancellations: this.parts.state.cancellations.size,
      isRefused: this.parts.state.gate?.gate.kind !== undefined,
    };
  }

  readonly checkReady = () => this.parts.journal.check();
  readonly close = () => this.parts.close();

  #findVisible({ keyId, ownOnly }: Caller, requestId: string): StoredConversation | undefined {
    const row = isRequestId(requestId) ? this.parts.state.rows.get(requestId) : undefined;
    return ownOnly && row?.key !== keyId ? undefined : row;
  }

  async #deleteOutput(requestId: string): Promise<void> {
    await this.parts.contents.delete("outcome-data", requestId);
    await this.parts.contents.delete("outputs", requestId);
  }
}
