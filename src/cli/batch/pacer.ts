import { RefusedError } from "../../client/errors.js";
import type { Clock } from "../../clock.js";
import { inWindow, nextSlot, WINDOW_MS } from "../../protocol/limits.js";
import type { HourlyUsage } from "../../store/history/reserve-create.js";
import { blockedUntil } from "../../workflows/quota.js";
import { limitFlag } from "../requests/quota.js";
import { sendTimes } from "./plan.js";

export interface PacerOptions {
  clock: Clock;
  /** Counts the hour from this machine's records; gives undefined where none are kept. */
  count: (limit: number) => HourlyUsage | undefined;
  /** Creates an hour for the key; Infinity for no limit, undefined where nobody said. */
  limit: number | undefined;
  /** How many shards share it. */
  shards: number;
  /** When (epoch ms) this batch sent a row, by its own journal. */
  own: readonly number[];
}

/** As in the hour that processes share: the service's clock is another one. */
const MARGIN_MS = 1_000;
/** How far the slot that a 429 names may be from the one that is counted here, and still be the same. */
const SAME_SLOT_MS = 3_000;

/** When the next create may be sent, from all that is known of the limit. */
export class Pacer {
  readonly #clock: Clock;
  readonly #count: PacerOptions["count"];
  readonly #shards: number;
  #limit: number | undefined;
  #own: number[];
  /** The hour as it was last counted; other processes may have sent since. */
  #hour: readonly number[] = [];
  #blockedUntil = 0;

  constructor({ clock, count, limit, shards, own }: PacerOptions) {
    this.#clock = clock;
    this.#count = count;
    this.#limit = limit;
    this.#shards = shards;
    this.#own = inWindow(own, clock.now() - MARGIN_MS);
    this.#countAgain();
  }

  /** Creates an hour for all who share the key; undefined while nobody knows. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /** This batch's part of the limit. */
  get share(): number {
    const limit = this.#limit ?? Number.POSITIVE_INFINITY;
    return this.#shards === 1 ? limit : Math.max(1, Math.floor(limit / this.#shards));
  }

  /** Notes that a create was sent. */
  sent(): void {
    const now = this.#clock.now();
    this.#own = [...inWindow(this.#own, now - MARGIN_MS), now];
    this.#countAgain();
  }

  /** When (epoch ms) the next create may be sent, by what processes of this machine do not settle among them. */
  ownNextAt(): number {
    const now = this.#clock.now();
    return Math.max(nextSlot(this.#own, this.share, now - MARGIN_MS) + MARGIN_MS, this.#blockedUntil, now);
  }

  /**
   * What a create that was turned away for the hour means: until when (epoch ms) nothing is sent, and what it
   * taught about the limit; undefined for any other error.
   */
  turnedAway(error: unknown): { until: number; lesson: string | undefined } | undefined {
    const attempts = () => this.#count(1)?.attempts ?? this.#own;
    const until = blockedUntil(error, attempts, this.#limit, this.#clock.now());
    if (until === undefined) return undefined;
    this.#blockedUntil = until;
    const lesson = error instanceof RefusedError ? this.#learn(attempts(), error, until) : undefined;
    return { until, lesson };
  }

  /** What is left of the hour for this batch, and when (epoch ms) the next create may go; undefined without a limit. */
  outlook(): { left: number; nextAt: number } | undefined {
    const now = this.#clock.now();
    const blocked = this.#blockedUntil > now;
    const limit = this.#limit ?? Number.POSITIVE_INFINITY;
    if (limit === Number.POSITIVE_INFINITY)
      return blocked ? { left: 0, nextAt: this.#blockedUntil } : undefined;
    const free = Math.min(
      limit - inWindow(this.#hour, now - MARGIN_MS).length,
      this.share - inWindow(this.#own, now - MARGIN_MS).length,
    );
    const nextAt = Math.max(now, this.#blockedUntil, this.times(1)[0] ?? now);
    return { left: blocked ? 0 : Math.max(0, free), nextAt };
  }

  /** When (epoch ms) each of the next `count` creates may be sent. */
  times(count: number): number[] {
    const limit = this.#limit ?? Number.POSITIVE_INFINITY;
    const hour = { attempts: [...this.#hour], limit, own: this.#own, share: this.share };
    return sendTimes(count, hour, Math.max(this.#clock.now(), this.#blockedUntil));
  }

  /**
   * What a 429 teaches where no limit was set. Where the slot it names is the one that this machine's oldest
   * create gives back, nobody else filled the hour, and its size is known.
   */
  #learn(attempts: readonly number[], error: RefusedError, until: number): string | undefined {
    if (this.#limit !== undefined) return undefined;
    const [oldest] = attempts;
    const used = attempts.length;
    const told = `it came after ${used} ${used === 1 ? "create" : "creates"} within the hour from this machine`;
    if (oldest === undefined)
      return `${told}: others use the key; --tier or --per-hour would at least count what is sent from here`;
    const isOurs = error.retryAfter !== undefined && Math.abs(oldest + WINDOW_MS - until) < SAME_SLOT_MS;
    if (!isOurs) return `${told}: if nobody else uses the key, ${limitFlag(used)} would have told`;
    this.#limit = used;
    this.#countAgain();
    return `${told}: ${limitFlag(used)} would have told, and is kept to from now on`;
  }

  #countAgain(): void {
    const limit = this.#limit ?? Number.POSITIVE_INFINITY;
    if (limit !== Number.POSITIVE_INFINITY) this.#hour = this.#count(limit)?.attempts ?? this.#own;
  }
}
