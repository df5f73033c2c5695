import type { Clock } from "../../../core/clock.js";
import { filterWindow, findNextSlot } from "../../../core/protocol/limits.js";
import { MARGIN_MS } from "../../store/history/hour.js";
import type { Account } from "../account.js";
import { findBlockedUntil } from "../quota.js";

/** An account that rows are sent to and asked for at, and the pace of its creates. */
export interface BatchLane {
  account: Account;
  pacer: CreatePacer;
}

export interface CreatePacerOptions {
  readonly clock: Clock;
  /** When (epoch ms) this machine sent the creates that still count; undefined if no records are kept. */
  readonly attempts: () => readonly number[] | undefined;
  /** Creates an hour for the key; Infinity for no limit, undefined if it is not known. */
  readonly limit: number | undefined;
  /** When (epoch ms) this batch sent its rows, by its own journal. */
  readonly own: readonly number[];
  /** The provider, if it is one: its 429 is about seconds or minutes instead of the hour. */
  readonly provider?: Account["provider"];
}

/** Decides when the next create may be sent, from all that is known of the hourly limit (§8). */
export class CreatePacer {
  #ownCreates: readonly number[];
  /** The attempts of this machine when they were last counted; other processes may have sent since. */
  #hour: readonly number[] = [];
  #blockedUntil = 0;
  /** Refusals since the last create that was answered otherwise. */
  #refusals = 0;
  readonly outage: OutageBackoff;

  constructor(private readonly options: CreatePacerOptions) {
    this.outage = new OutageBackoff(options.clock);
    this.#ownCreates = options.own;
    this.#recount();
  }

  /** Creates an hour for all who share the key; undefined if it is not known. */
  get limit(): number | undefined {
    return this.options.limit;
  }

  /** Notes that a create was sent. */
  noteSent(): void {
    const now = this.#readNow();
    this.#refusals = 0;
    this.#ownCreates = [...this.#listOwnCreates(now), now];
    this.#recount();
  }

  /** Returns when (epoch ms) the next create may be sent, by this batch's own creates and by the last refusal. */
  findNextAt(): number {
    const now = this.#readNow();
    const slot = findNextSlot(this.#listOwnCreates(now), this.#most, now - MARGIN_MS) + MARGIN_MS;
    return Math.max(slot, this.#blockedUntil, now);
  }

  /** For a create refused for the hour: until when (epoch ms) none is sent. Else undefined. */
  noteRefused(error: unknown): number | undefined {
    const { provider, attempts } = this.options;
    const listAttempts = () => (provider ? [] : (attempts() ?? this.#ownCreates));
    const guesses = provider?.guessesWaits ? this.#refusals : 0;
    const until = findBlockedUntil(error, listAttempts, this.limit, this.#readNow(), guesses);
    if (until !== undefined) this.#refusals++;
    this.#blockedUntil = until ?? this.#blockedUntil;
    return until;
  }

  /** What is left of the hour for this batch, and when (epoch ms) the next create may go; undefined without a limit. */
  estimateOutlook(): { left: number; nextAt: number } | undefined {
    const now = this.#readNow();
    const isBlocked = this.#blockedUntil > now;
    if (this.#most === Number.POSITIVE_INFINITY)
      return isBlocked ? { left: 0, nextAt: this.#blockedUntil } : undefined;
    const free = Math.min(
      this.#most - filterWindow(this.#hour, now - MARGIN_MS).length,
      this.#most - this.#listOwnCreates(now).length,
    );
    const nextAt = Math.max(now, this.#blockedUntil, this.listTimes(1)[0] ?? now);
    return { left: isBlocked ? 0 : Math.max(0, free), nextAt };
  }

  /** When (epoch ms) each of the next `count` creates may be sent. */
  listTimes(count: number): number[] {
    const now = this.#readNow();
    return sendTimes(
      count,
      [this.#hour, this.#listOwnCreates(now)],
      this.#most,
      Math.max(now, this.#blockedUntil),
    );
  }

  /** This batch's creates that count at `now`; one that a wrong clock dated ahead counts as of now. */
  #listOwnCreates(now: number): readonly number[] {
    const dated = this.#ownCreates.map((at) => Math.min(at, now));
    this.#ownCreates = filterWindow(dated, now - MARGIN_MS);
    return this.#ownCreates;
  }

  #recount(): void {
    if (this.#most !== Number.POSITIVE_INFINITY)
      this.#hour = this.options.attempts() ?? this.#listOwnCreates(this.#readNow());
  }

  get #most(): number {
    return this.limit ?? Number.POSITIVE_INFINITY;
  }

  #readNow(): number {
    return this.options.clock.now();
  }
}

/**
 * Returns when (epoch ms) each of the next `count` creates may be sent. Each of `hours` lists when creates were sent that
 * count: those of this machine, and those of this batch, which may have run on other machines. `limit`: creates an hour.
 */
export function sendTimes(
  count: number,
  hours: readonly (readonly number[])[],
  limit: number,
  now: number,
): number[] {
  const windows =
    limit === Number.POSITIVE_INFINITY ? [] : hours.map((times) => times.toSorted((a, b) => a - b));
  const sent: number[] = [];
  for (let at = now; sent.length < count; sent.push(at)) {
    for (const times of windows) at = Math.max(at, findNextSlot(times.slice(-limit), limit, at));
    for (const times of windows) times.push(at);
  }
  return sent;
}

/** The first wait after a create that could not be sent, and the longest, in milliseconds. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 30_000;

/** Backoff for creates that never left: an outage is waited out if the service has answered before. */
export class OutageBackoff {
  /** Since when (monotonic ms) nothing could be sent. */
  #since: number | undefined;
  #hasAnswered = false;

  constructor(private readonly clock: Clock) {}

  /** Notes that the service has answered. Returns whether that ends an outage. */
  noteAnswered(): boolean {
    this.#hasAnswered = true;
    const wasOut = this.#since !== undefined;
    this.#since = undefined;
    return wasOut;
  }

  /** The wait (ms) before the next try; undefined after `patience` ms of an outage. `isFirst`: this failure begins it. */
  noteFailed(patience: number): { waitMs: number | undefined; isFirst: boolean } {
    const now = this.clock.monotonic();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= patience) return { waitMs: undefined, isFirst };
    return { waitMs: Math.min(Math.max(lasting, FIRST_WAIT_MS), LONGEST_WAIT_MS), isFirst };
  }
}
