import type { Clock } from "../../core/clock.js";
import { Semaphore } from "../../core/semaphore.js";

/**
 * Decides when the polls of an account may start, and with `pacesAll` its other requests, too. If a poll and another
 * request are both due, the one that has waited longer starts first. Its wait counts from when it was due, or from the
 * last request of its kind if that was later. Times are monotonic ms.
 */
export class RequestPacer {
  #last = Number.NEGATIVE_INFINITY;
  #lastPoll = Number.NEGATIVE_INFINITY;
  #lastCall = Number.NEGATIVE_INFINITY;
  /** The time at which the next poll of each watch is due. */
  readonly #polls = new Map<object, number>();
  /** The times at which the waiting requests other than polls were due, in the order of their starts. */
  readonly #calls = new Set<{ dueAt: number }>();
  readonly #line = new Semaphore(1);

  /** `betweenMs`: minimum time between two starts; 0 for no limit. `pacesAll`: whether it also applies to requests other than polls. */
  constructor(
    readonly betweenMs: number,
    readonly pacesAll = false,
  ) {}

  /** Notes when the next poll of a watch is due (Infinity: no poll), and returns when it may start. */
  planPoll(watch: object, dueAt: number): number {
    if (dueAt === Number.POSITIVE_INFINITY) this.#polls.delete(watch);
    else this.#polls.set(watch, dueAt);
    const [call] = this.#calls;
    return Math.max(dueAt, this.#findNextStart(call !== undefined && this.#isCallFirst(call.dueAt, dueAt)));
  }

  /** Notes that a poll starts at `at`. The caller makes sure that `planPoll` allows it. */
  startPoll(at: number): void {
    this.#last = this.#lastPoll = at;
  }

  /** Waits until a request other than a poll may start; requests start in the order of their calls. Rejects with `signal.reason`. */
  async waitForTurn(clock: Clock, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const call = { dueAt: clock.monotonic() };
    this.#calls.add(call);
    let release = () => {};
    try {
      release = await this.#line.acquire(signal);
      for (let ms = this.#waitMs(call, clock); ms > 0; ms = this.#waitMs(call, clock))
        await clock.sleep(ms, signal);
      this.#last = this.#lastCall = clock.monotonic();
    } finally {
      this.#calls.delete(call);
      release();
    }
  }

  #waitMs({ dueAt }: { dueAt: number }, clock: Clock): number {
    const pollAt = Math.min(...this.#polls.values());
    const isPollDue = pollAt <= this.#findNextStart(false);
    return this.#findNextStart(isPollDue && !this.#isCallFirst(dueAt, pollAt)) - clock.monotonic();
  }

  /** Returns when a request may start. `goesFirst`: whether another one starts before it; that one may still be cancelled. */
  #findNextStart(goesFirst: boolean): number {
    return this.#last + this.betweenMs * (goesFirst ? 2 : 1);
  }

  #isCallFirst(callAt: number, pollAt: number): boolean {
    return Math.max(callAt, this.#lastCall) <= Math.max(pollAt, this.#lastPoll);
  }
}
