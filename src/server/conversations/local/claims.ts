import type { Clock } from "../../../core/clock.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import type { ResearchFacts } from "../../../core/researcher.js";
import type { KeyStore, ServiceKey } from "../../keys/key-store.js";
import { beginBlock, queueProgress } from "../budget-rules.js";
import {
  type Claim,
  ConversationStopped,
  type KeyFigures,
  type LimitedKey,
  type StoreCounts,
} from "../conversation-store.js";
import { figuresOf } from "./budgets.js";
import { DueQueue } from "./due-queue.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** Which conversations wait for work, and which are worked on. */
export class LocalClaims {
  /** What does the research of this process. */
  facts: ResearchFacts = {};
  readonly #due: DueQueue;
  /** What has been begun at another service before this process, or by a claim that was given back. */
  readonly #begun: DueQueue;
  readonly #held = new Map<string, { claim: Claim; controller: AbortController; progress?: string }>();
  /** As they were last read. */
  #keys: readonly ServiceKey[] = [];
  constructor(
    private readonly parts: { keys: KeyStore; state: LocalState; clock: Clock; pendingMs: number },
  ) {
    this.#due = new DueQueue(parts.clock);
    this.#begun = new DueQueue(parts.clock);
    for (const { requestId, status, key, remote } of parts.state.rows.values())
      if (!isFinal(status)) (remote ? this.#begun : this.#due).add(key, requestId, parts.pendingMs);
  }

  /** A new conversation waits. */
  add(key: string, requestId: string): void {
    this.#due.add(key, requestId, this.parts.pendingMs);
  }

  /** Waits for what is due longest, what was begun before what was not. Rejects with `signal.reason`. */
  async claimNext(signal: AbortSignal): Promise<Claim> {
    const { row, claim } = await this.#take(this.#begun.size > 0 ? this.#begun : this.#due, signal);
    row.status = "PROCESSING";
    row.startedAt ??= this.parts.clock.now();
    return claim;
  }

  /** Waits for what was begun at another service. Rejects with `signal.reason`. */
  claimBegun(signal: AbortSignal) {
    return this.#take(this.#begun, signal);
  }

  /** Waits for what was not begun yet, until `measureClosed` is 0. Rejects with `signal.reason`. */
  claimUnsent(signal: AbortSignal, closedMs: () => number) {
    return this.#take(this.#due, signal, closedMs);
  }

  /** How far the work on a conversation is, or its place among those that wait, as JSON text. `measureClosed`: see `unsent`. */
  getProgress({ requestId, status, key: id }: StoredConversation, closedMs: number): string | undefined {
    const place = status === "PENDING" ? this.#due.placeOf(id, requestId) : undefined;
    if (place === undefined) return this.#held.get(requestId)?.progress;
    const { clock } = this.parts;
    const { budgets = {} } = this.#keys.find((key) => key.id === id) ?? {};
    return queueProgress(place, {
      budgets,
      figures: this.figures({ id, budgets }),
      closedMs,
      now: clock.now(),
    });
  }

  /** What counts against the limits of a key. */
  figures(key: Pick<LimitedKey, "id" | "budgets">): KeyFigures {
    const { clock, state } = this.parts;
    const ids = [...this.#held.keys(), ...this.#begun.listNames(key.id)];
    const running = ids
      .flatMap((requestId) => state.rows.get(requestId) ?? [])
      .filter((row) => row.key === key.id);
    return figuresOf(state, key, { now: clock.now(), running, facts: this.facts });
  }

  tell(claim: Claim, progress: string): void {
    const held = this.#held.get(claim.job.request_id);
    if (held?.claim === claim) held.progress = progress;
  }

  /** Whether the claim is valid. */
  isHolding(claim: Claim): boolean {
    return this.#held.get(claim.job.request_id)?.claim === claim;
  }

  isHeld(requestId: string): boolean {
    return this.#held.has(requestId);
  }

  /** The work on a conversation is over: its key may begin another one. */
  release(requestId: string): void {
    this.#held.delete(requestId);
    this.#due.look();
  }

  /** A conversation that has ended waits no more, and who works on it is told why. */
  noteStopped({ key, requestId }: StoredConversation): void {
    for (const queue of [this.#due, this.#begun]) queue.delete(key, requestId);
    this.#held.get(requestId)?.controller.abort(new ConversationStopped("the conversation was stopped"));
    this.release(requestId);
  }

  /** It waits again, before all others of its key. */
  putBack(requestId: string): void {
    const row = this.parts.state.rows.get(requestId);
    this.#held.delete(requestId);
    if (row?.job) (row.remote ? this.#begun : this.#due).addFirst(row.key, requestId);
  }

  /** How many wait to be sent, of a key or of all, those included that are just tried. */
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
      // It may have been stopped meanwhile.
      if (row?.job === undefined) continue;
      if (row.remote === undefined) row.bill = { model: this.facts.model };
      const controller = new AbortController();
      const claim: Claim = { job: row.job, starts: 1, signal: controller.signal };
      this.#held.set(requestId, { claim, controller });
      return { row, claim };
    }
  }

  /** Which keys may begin another conversation just now. What has begun goes on. */
  async #listBeginners(queue: DueQueue): Promise<(key: string) => boolean> {
    if (queue === this.#begun) return () => true;
    this.#keys = await this.parts.keys.list().catch(() => this.#keys);
    const keys = new Map(this.#keys.map((key) => [key.id, key]));
    return (id) => {
      const { budgets = {} } = keys.get(id) ?? {};
      if (budgets.atOnce === undefined && budgets.dollars === undefined) return true;
      return beginBlock(budgets, this.figures({ id, budgets })) === undefined;
    };
  }
}
