import type { Clock } from "../../../core/clock.js";
import { inWindow, nextSlot } from "../../../core/protocol/limits.js";
import { MARGIN_MS } from "../../store/history/hour.js";
import type { Ports } from "../ports.js";
import { blockedUntil } from "../quota.js";

/** An account that rows are sent to and asked for at, and the pace of its creates. */
export interface BatchAccount {
  ports: Ports;
  pacer: CreatePacer;
}

export interface CreatePacerOptions {
  readonly clock: Clock;
  /** When (epoch ms) this machine sent the creates that still count; undefined if no records are kept. */
  readonly attempts: () => readonly number[] | undefined;
  /** Creates an hour for the key; Infinity for no limit, undefined if it is not known. */
  readonly limit: number | undefined;
  /** How many shards share the limit. */
  readonly shards: number;
  /** When (epoch ms) this batch sent its rows, by its own journal. */
  readonly own: readonly number[];
  /** Whether a 429 is about the hour; a provider's is of seconds or minutes. Default: true. */
  readonly isHourly?: boolean | undefined;
}

/** Decides when the next create may be sent, from all that is known of the hourly limit (§8). */
export class CreatePacer {
  #own: readonly number[];
  /** The attempts of this machine when they were last counted; other processes may have sent since. */
  #hour: readonly number[] = [];
  #blockedUntil = 0;
  /** Until when (epoch ms) its rows do not go on to another account. */
  heldUntil = 0;
  /** Whether no more creates are sent. */
  hasEnded = false;
  readonly outage: OutageBackoff;

  constructor(private readonly options: CreatePacerOptions) {
    this.outage = new OutageBackoff(options.clock);
    this.#own = options.own;
    this.#recount();
  }

  /** Creates an hour for all who share the key; undefined if it is not known. */
  get limit(): number | undefined {
    return this.options.limit;
  }

  /** This batch's part of the limit, Infinity without one. */
  get share(): number {
    const { shards } = this.options;
    return shards === 1 ? this.#most : Math.max(1, Math.floor(this.#most / shards));
  }

  /** Notes that a create was sent. */
  sent(): void {
    const now = this.#now();
    this.#own = [...this.#ownAt(now), now];
    this.#recount();
  }

  /** When (epoch ms) the next create may be sent by this batch's own share and by what was refused last. */
  nextAt(): number {
    const now = this.#now();
    const slot = nextSlot(this.#ownAt(now), this.share, now - MARGIN_MS) + MARGIN_MS;
    return Math.max(slot, this.#blockedUntil, this.heldUntil, now);
  }

  /** For a create refused for the hour: until when (epoch ms) none is sent. Else undefined. */
  refused(error: unknown): number | undefined {
    const { isHourly = true } = this.options;
    const attempts = () => (isHourly ? (this.options.attempts() ?? this.#own) : []);
    const until = blockedUntil(error, attempts, this.limit, this.#now());
    this.#blockedUntil = until ?? this.#blockedUntil;
    return until;
  }

  /** What is left of the hour for this batch, and when (epoch ms) the next create may go; undefined without a limit. */
  outlook(): { left: number; nextAt: number } | undefined {
    const now = this.#now();
    const isBlocked = this.#blockedUntil > now;
    if (this.#most === Number.POSITIVE_INFINITY)
      return isBlocked ? { left: 0, nextAt: this.#blockedUntil } : undefined;
    const free = Math.min(
      this.#most - inWindow(this.#hour, now - MARGIN_MS).length,
      this.share - this.#ownAt(now).length,
    );
    const nextAt = Math.max(now, this.#blockedUntil, this.times(1)[0] ?? now);
    return { left: isBlocked ? 0 : Math.max(0, free), nextAt };
  }

  /** When (epoch ms) each of the next `count` creates may be sent. */
  times(count: number): number[] {
    const now = this.#now();
    const all = { times: this.#hour, limit: this.#most };
    const own = { times: this.#ownAt(now), limit: this.share };
    return sendTimes(count, [all, own], Math.max(now, this.#blockedUntil));
  }

  /** This batch's creates that count at `now`; one that a wrong clock dated ahead counts as of now. */
  #ownAt(now: number): readonly number[] {
    const dated = this.#own.map((at) => Math.min(at, now));
    this.#own = inWindow(dated, now - MARGIN_MS);
    return this.#own;
  }

  #recount(): void {
    if (this.#most !== Number.POSITIVE_INFINITY)
      this.#hour = this.options.attempts() ?? this.#ownAt(this.#now());
  }

  get #most(): number {
    return this.limit ?? Number.POSITIVE_INFINITY;
  }

  #now(): number {
    return this.options.clock.now();
  }
}

/**
 * When (epoch ms) each of `count` creates may be sent. `hours`: when creates were sent that count, and how many may in an
 * hour: those of all processes and machines, and this batch's own with its share.
 */
export function sendTimes(
  count: number,
  hours: readonly { times: readonly number[]; limit: number }[],
  now: number,
): number[] {
  const windows = hours
    .filter(({ limit }) => limit !== Number.POSITIVE_INFINITY)
    .map(({ times, limit }) => ({ times: [...times].sort((a, b) => a - b), limit }));
  const sent: number[] = [];
  for (let at = now; sent.length < count; sent.push(at)) {
    for (const window of windows) {
      at = Math.max(at, nextSlot(window.times.slice(-window.limit), window.limit, at));
    }
    for (const { times } of windows) times.push(at);
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
  answered(): boolean {
    this.#hasAnswered = true;
    const wasOut = this.#since !== undefined;
    this.#since = undefined;
    return wasOut;
  }

  /** The wait (ms) before the next try; undefined after `patience` ms of an outage. `isFirst`: this failure begins it. */
  failed(patience: number): { waitMs: number | undefined; isFirst: boolean } {
    const now = this.clock.monotonic();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    const lasting = now - this.#since;
    if (!this.#hasAnswered || lasting >= patience) return { waitMs: undefined, isFirst };
    return { waitMs: Math.min(Math.max(lasting, FIRST_WAIT_MS), LONGEST_WAIT_MS), isFirst };
  }
}
