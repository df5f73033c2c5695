import type { Clock } from "../../../core/clock.js";
import { filterAttemptsInWindow, findNextAllowedTime } from "../../../core/protocol/rate-limits.js";
import { MARGIN_MS } from "../../store/history/window-usage.js";
import type { Account } from "../account.js";
import { findBlockedUntil } from "../wait-for-quota.js";

/** An account to which rows are sent, with the pace of its create calls. */
export interface BatchLane {
  account: Account;
  pacer: CreatePacer;
}

export interface CreatePacerOptions {
  readonly clock: Clock;
  /** Lists when (epoch ms) this machine sent the create calls that still count; undefined if no history is kept. */
  readonly attempts: () => readonly number[] | undefined;
  /** Create calls allowed per hour with this key; Infinity for no limit, undefined if unknown. */
  readonly limit: number | undefined;
  /** The times (epoch ms) at which this batch sent its rows, by its own journal. */
  readonly own: readonly number[];
  /** The provider, if the account is at one. A provider's 429 lasts seconds or minutes, that of our interface lasts up to an hour. */
  readonly provider?: Account["provider"];
}

/** Decides when the next create call may be sent, from the hourly limit (§8), the create calls sent so far, and refusals. */
export class CreatePacer {
  /** When the create calls that count were sent, as of the last count. Other processes may have sent more since. */
  #sent: readonly number[];
  #blockedUntil = 0;
  /** Number of refusals since the last create call that was not refused because of a limit. */
  #refusals = 0;
  readonly outage: OutageBackoff;

  constructor(private readonly options: CreatePacerOptions) {
    this.outage = new OutageBackoff(options.clock);
    this.#sent = this.#countOfMachine() ?? options.own;
  }

  /** The number of requests that may be created per hour with this key, by everyone who uses it; undefined if unknown. */
  get limit(): number | undefined {
    return this.options.limit;
  }

  /** Notes that a create call was sent now. */
  noteSent(): void {
    const now = this.#readNow();
    this.#refusals = 0;
    this.#sent = this.#countOfMachine() ?? [...this.#listSent(now), now];
  }

  /** Returns when (epoch ms) the next create call may be sent, by the create calls that count and the last refusal. */
  findNextAt(): number {
    const now = this.#readNow();
    const slot = findNextAllowedTime(this.#listSent(now), this.#most, now - MARGIN_MS) + MARGIN_MS;
    return Math.max(slot, this.#blockedUntil, now);
  }

  /** Notes a failed create call. Returns until when (epoch ms) no further one is sent; undefined if no limit caused the failure. */
  noteRefused(error: unknown): number | undefined {
    const { provider, attempts } = this.options;
    const listAttempts = () => (provider ? [] : (attempts() ?? this.#sent));
    const guesses = provider?.guessesWaits ? this.#refusals : 0;
    const until = findBlockedUntil(error, listAttempts, this.limit, this.#readNow(), guesses);
    if (until !== undefined) this.#refusals++;
    this.#blockedUntil = until ?? this.#blockedUntil;
    return until;
  }

  /** Estimates how many create calls the hour still allows, and when (epoch ms) the next is allowed; undefined without a limit. */
  estimateOutlook(): { left: number; nextAt: number } | undefined {
    const now = this.#readNow();
    const isBlocked = this.#blockedUntil > now;
    if (this.#most === Number.POSITIVE_INFINITY)
      return isBlocked ? { left: 0, nextAt: this.#blockedUntil } : undefined;
    const free = this.#most - this.#listSent(now).length;
    const nextAt = Math.max(now, this.#blockedUntil, this.listTimes(1)[0] ?? now);
    return { left: isBlocked ? 0 : Math.max(0, free), nextAt };
  }

  /** Lists when (epoch ms) each of the next `count` create calls may be sent. */
  listTimes(count: number): number[] {
    const now = this.#readNow();
    return listSendTimes(count, this.#listSent(now), this.#most, Math.max(now, this.#blockedUntil));
  }

  /** Lists the create calls that count at `now`. One that a wrong clock dated in the future counts as of now. */
  #listSent(now: number): readonly number[] {
    const dated = this.#sent.map((at) => Math.min(at, now));
    this.#sent = filterAttemptsInWindow(dated, now - MARGIN_MS);
    return this.#sent;
  }

  /** Counts the create calls of this machine; undefined without a limit, and if no history is kept. */
  #countOfMachine(): readonly number[] | undefined {
    return this.#most === Number.POSITIVE_INFINITY ? undefined : this.options.attempts();
  }

  get #most(): number {
    return this.limit ?? Number.POSITIVE_INFINITY;
  }

  #readNow(): number {
    return this.options.clock.now();
  }
}

/** Lists when (epoch ms) each of the next `count` create calls may be sent. `sent`: when the create calls that count were sent; `limit`: create calls per hour. */
export function listSendTimes(count: number, sent: readonly number[], limit: number, now: number): number[] {
  const times = sent.toSorted((a, b) => a - b);
  for (let at = now; times.length < sent.length + count; times.push(at))
    if (limit !== Number.POSITIVE_INFINITY)
      at = Math.max(at, findNextAllowedTime(times.slice(-limit), limit, at));
  return times.slice(sent.length);
}

/** The first and the longest wait after a create that could not be sent, in milliseconds. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 30_000;

/** Backoff for create calls that could not be sent. Waits for the end of an outage only if the service has answered before. */
export class OutageBackoff {
  /** Monotonic ms since which nothing could be sent; undefined without an outage. */
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

  /** Returns the wait (ms) before the next attempt; undefined after `patience` ms. `isFirst`: whether this failure begins the outage. */
  noteFailed(patience: number): { waitMs: number | undefined; isFirst: boolean } {
    const now = this.clock.monotonic();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= patience) return { waitMs: undefined, isFirst };
    return { waitMs: Math.min(Math.max(lasting, FIRST_WAIT_MS), LONGEST_WAIT_MS), isFirst };
  }
}
