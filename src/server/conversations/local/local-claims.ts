import type { Clock } from "../../../core/clock.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import type { ResearcherFacts } from "../../../core/researcher.js";
import type { KeyStore, ServiceKey } from "../../keys/key-store.js";
import { explainKeyWait, formatQueueProgress } from "../budget-rules.js";
import {
  type Claim,
  ConversationStopped,
  type KeyFigures,
  type LimitedKey,
  type StoreCounts,
} from "../conversation-store.js";
import { DueQueue } from "./due-queue.js";
import { computeKeyFigures } from "./key-figures.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** Tracks which conversations wait for a worker, and which have one. */
export class LocalClaims {
  /** The model of this process, and whether it reports dollars. */
  facts: ResearcherFacts = {};
  readonly #due: DueQueue;
  /** Conversations whose request at the upstream service was begun by an earlier process, or under a claim that was returned. */
  readonly #begun: DueQueue;
  readonly #held = new Map<string, { claim: Claim; controller: AbortController; progress?: string }>();
  /** The keys when they were last read. */
  #keys: readonly ServiceKey[] = [];
  constructor(
    private readonly parts: { keys: KeyStore; state: LocalState; clock: Clock; pendingMs: number },
  ) {
    this.#due = new DueQueue(parts.clock);
    this.#begun = new DueQueue(parts.clock);
    for (const { requestId, status, key, remote } of parts.state.rows.values())
      if (!isFinal(status)) (remote ? this.#begun : this.#due).add(key, requestId, parts.pendingMs);
  }

  /** Adds a new conversation to the queue. */
  add(key: string, requestId: string): void {
    this.#due.add(key, requestId, this.parts.pendingMs);
  }

  /** Waits for the conversation that has been due longest; those with a begun request come first. Rejects with `signal.reason`. */
  async claimNext(signal: AbortSignal): Promise<Claim> {
    const { row, claim } = await this.#take(this.#begun.size > 0 ? this.#begun : this.#due, signal);
    row.status = "PROCESSING";
    row.startedAt ??= this.parts.clock.now();
    return claim;
  }

  /** Waits for a conversation whose request at the upstream service was begun. Rejects with `signal.reason`. */
  claimBegun(signal: AbortSignal) {
    return this.#take(this.#begun, signal);
  }

  /** Waits for a conversation whose request was not sent yet, and until `closedMs` returns 0. Rejects with `signal.reason`. */
  claimUnsent(signal: AbortSignal, closedMs: () => number) {
    return this.#take(this.#due, signal, closedMs);
  }

  /** Returns a conversation's progress, or its place in the queue, as JSON text. `closedMs`: ms until create calls are sent again. */
  getProgress({ requestId, status, key: id }: StoredConversation, closedMs: number): string | undefined {
    const place = status === "PENDING" ? this.#due.placeOf(id, requestId) : undefined;
    if (place === undefined) return this.#held.get(requestId)?.progress;
    const { clock } = this.parts;
    const { budgets = {} } = this.#keys.find((key) => key.id === id) ?? {};
    return formatQueueProgress(place, {
      budgets,
      figures: this.computeFigures({ id, budgets }),
      closedMs,
      now: clock.now(),
    });
  }

  /** Computes what counts against a key's limits. */
  computeFigures(key: Pick<LimitedKey, "id" | "budgets">): KeyFigures {
    const { clock, state } = this.parts;
    const ids = [...this.#held.keys(), ...this.#begun.listNames(key.id)];
    const running = ids
      .flatMap((requestId) => state.rows.get(requestId) ?? [])
      .filter((row) => row.key === key.id);
    return computeKeyFigures(state, key, { now: clock.now(), running, facts: this.facts });
  }

  tell(claim: Claim, progress: string): void {
    const held = this.#held.get(claim.job.request_id);
    if (held?.claim === claim) held.progress = progress;
  }

  /** Returns whether the claim is valid. */
  isHolding(claim: Claim): boolean {
    return this.#held.get(claim.job.request_id)?.claim === claim;
  }

  isHeld(requestId: string): boolean {
    return this.#held.has(requestId);
  }

  /** Ends a claim, so that another conversation of its key may begin. */
  release(requestId: string): void {
    this.#held.delete(requestId);
    this.#due.look();
  }

  /** Removes a stopped conversation from the queue, and aborts its claim, if any, with ConversationStopped. */
  noteStopped({ key, requestId }: StoredConversation): void {
    for (const queue of [this.#due, this.#begun]) queue.delete(key, requestId);
    this.#held.get(requestId)?.controller.abort(new ConversationStopped("the conversation was stopped"));
    this.release(requestId);
  }

  /** Puts a claimed conversation back at the head of its key's queue. */
  putBack(requestId: string): void {
    const row = this.parts.state.rows.get(requestId);
    this.#held.delete(requestId);
    if (row?.job) (row.remote ? this.#begun : this.#due).addFirst(row.key, requestId);
  }

  /** Counts the conversations of a key, or of all keys, that wait to be sent or are being sent. */
  countWaiting(key?: string): number {
    const tried = [...this.#held.keys()].filter((requestId) => {
      const row = this.parts.state.rows.get(requestId);
      return row?.status === "PENDING" && (key === undefined || row.key === key);
    });
    return tried.length + (key === undefined ? this.#due.size : this.#due.countOf(key));
  }

  countQueue(): Pick<StoreCounts, "waiting" | "working" | "oldestDueMs"> {
    return {
      waiting: this.#due.size + this.#begun.size,
      working: this.#held.size,
      oldestDueMs: Math.max(this.#due.measureOverdue(), this.#begun.measureOverdue()),
    };
  }

  async #take(queue: DueQueue, signal: AbortSignal, closedMs?: () => number) {
    for (;;) {
      const requestId = await queue.take(signal, closedMs, () => this.#listBeginners(queue));
      const row = this.parts.state.rows.get(requestId);
      // The conversation may have been stopped meanwhile.
      if (row?.job === undefined) continue;
      if (row.remote === undefined) row.bill = { model: this.facts.model };
      const controller = new AbortController();
      const claim: Claim = { job: row.job, starts: 1, signal: controller.signal };
      this.#held.set(requestId, { claim, controller });
      return { row, claim };
    }
  }

  /** Returns a function that tells whether a key may begin another conversation now. Running conversations always continue. */
  async #listBeginners(queue: DueQueue): Promise<(key: string) => boolean> {
    if (queue === this.#begun) return () => true;
    this.#keys = await this.parts.keys.list().catch(() => this.#keys);
    const keys = new Map(this.#keys.map((key) => [key.id, key]));
    return (id) => {
      const { budgets = {} } = keys.get(id) ?? {};
      if (budgets.atOnce === undefined && budgets.dollars === undefined) return true;
      return explainKeyWait(budgets, this.computeFigures({ id, budgets })) === undefined;
    };
  }
}
