import { type Clock, epochOf } from "../clock.js";
import { isFinal } from "../protocol/conversation.js";
import type { Data } from "../protocol/envelope.js";
import { POOL_SIZE } from "./connection.js";
import { Intake } from "./intake.js";
import type { NoData, Verdict } from "./judge.js";
import { adaptivePace, BETWEEN_POLLS_MS, fixedPace, type Pace } from "./pace.js";
import { DEFAULT_PATIENCE_MS, givesUp, pauseAfterFailure } from "./patience.js";
import { Schedule } from "./schedule.js";
import { Waker } from "./waker.js";
import type { Moment, WatchEvent, Watched, WatchOptions, WatchSource, WatchTarget } from "./watch-types.js";

export interface WatchPorts {
  clock: Clock;
  random: () => number;
  poll: (requestId: string, limits: { signal: AbortSignal; timeout: number }) => Promise<Verdict>;
}

const UNCHANGED_MS = 300_000;
/** A poll that is under way when the time is over may still take this long, in milliseconds. */
const LAST_POLL_MS = 2_000;

/**
 * Watches many ids in one loop: one pool, one deadline, polls in the order they are due. Yields events until
 * the source has ended and every id is final, given up or out of time; throws `signal.reason` when aborted.
 */
export async function* watch(
  ports: WatchPorts,
  source: WatchSource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void> {
  const watcher = new Watcher(ports, options);
  try {
    watcher.take(source);
    yield* watcher.run();
  } finally {
    watcher.end();
  }
}

class Watcher {
  readonly #ports: WatchPorts;
  readonly #options: WatchOptions;
  readonly #pace: Pace;
  readonly #start: number;
  readonly #deadline: number;
  readonly #waker: Waker;
  readonly #intake = new Intake();
  readonly #schedule = new Schedule<Watched>();
  readonly #polling = new AbortController();
  #events: WatchEvent[] = [];
  #underWay = 0;
  #live = 0;
  #failing = 0;
  #answered: boolean;
  #lastChange: number;
  #nextLaunch = 0;

  constructor(ports: WatchPorts, options: WatchOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#pace =
      options.interval === undefined ? (options.pace ?? adaptivePace) : fixedPace(options.interval);
    this.#start = ports.clock.monotonic();
    this.#deadline = this.#start + (options.timeout || Number.POSITIVE_INFINITY);
    this.#answered = options.answered ?? false;
    this.#lastChange = this.#start;
    this.#waker = new Waker(ports.clock, options.signal);
  }

  take(source: WatchSource): void {
    this.#intake.take(source, (target) => this.#add(target), this.#waker.wake);
  }

  end(): void {
    this.#waker.end();
    this.#polling.abort(new Error("the watch is over"));
  }

  async *run(): AsyncGenerator<WatchEvent, void> {
    while (true) {
      this.#options.signal?.throwIfAborted();
      this.#launchDue();
      this.#judgeDeadline();
      this.#noteQuiet();
      const events = this.#events;
      this.#events = [];
      yield* events;
      if (this.#live === 0 && !this.#intake.isOpen) return;
      if (this.#events.length === 0) await this.#idle();
    }
  }

  #add(target: WatchTarget): void {
    const now = this.#now();
    const fresh = { status: null, since: now, polls: 0, failures: 0, quietSince: now, notBefore: 0 };
    this.#schedule.add(now, { ...target, ...fresh });
    this.#live++;
  }

  #launchDue(): void {
    while (this.#underWay < POOL_SIZE) {
      const now = this.#now();
      // The last polls before the deadline all come at once: the pool alone holds them back.
      if (this.#schedule.nextAt() > now || (now < this.#nextLaunch && now < this.#deadline)) return;
      const watched = this.#schedule.take();
      if (!watched) return;
      if (this.#options.interval === undefined) this.#nextLaunch = now + BETWEEN_POLLS_MS;
      this.#underWay++;
      void this.#poll(watched);
    }
  }

  async #poll(watched: Watched): Promise<void> {
    const timeout = this.#deadline - this.#now() + LAST_POLL_MS;
    const verdict = await this.#ports.poll(watched.requestId, { signal: this.#polling.signal, timeout });
    this.#underWay--;
    if (this.#polling.signal.aborted) return;
    watched.polls++;
    if (verdict.kind === "data") this.#succeed(watched, verdict.data);
    else this.#fail(watched, verdict);
    this.#waker.wake();
  }

  #succeed(watched: Watched, data: Data): void {
    const status = String(data.status);
    const { requestId, status: previous } = watched;
    this.#answered = true;
    if (watched.failures > 0 && --this.#failing === 0) {
      this.#events.push({ kind: "recovered", elapsedMs: this.#now() - this.#start });
    }
    watched.failures = 0;
    watched.quietSince = this.#now();
    watched.createdAt ??= epochOf(data.created_at);
    if (status !== previous) {
      const seen = { requestId, status, previous, final: isFinal(status), data };
      this.#events.push({ kind: "state", ...seen, ...this.#moment() });
      watched.status = status;
      this.#lastChange = this.#now();
    }
    if (isFinal(status)) this.#live--;
    else this.#plan(watched, this.#pace(this.#age(watched), this.#ports.random()));
  }

  #fail(watched: Watched, verdict: NoData): void {
    const { error } = verdict;
    const { requestId, status } = watched;
    const patience = this.#options.patience ?? DEFAULT_PATIENCE_MS;
    const now = this.#now();
    watched.failures++;
    if (
      givesUp(watched, verdict, { answered: this.#answered, patience, now, wallNow: this.#ports.clock.now() })
    ) {
      if (watched.failures > 1) this.#failing--;
      this.#live--;
      this.#events.push({ kind: "given-up", requestId, status, error, ...this.#moment() });
      return;
    }
    if (watched.failures === 1 && ++this.#failing === 1)
      this.#events.push({ kind: "trouble", requestId, error });
    const asked = (error.retryAfter ?? 0) * 1_000;
    if (asked > 0) {
      watched.quietSince += asked;
      watched.notBefore = now + asked;
      this.#events.push({ kind: "asked-to-wait", requestId, waitMs: asked, error });
    }
    const random = this.#ports.random();
    const pause = pauseAfterFailure(watched.failures, this.#pace(this.#age(watched), random), random);
    // The last look before patience ends is worth more than an even pace.
    const patienceEnds = Math.max(watched.quietSince + patience - now, 1);
    this.#plan(watched, Math.max(asked, Math.min(pause, patienceEnds)));
  }

  /** The next poll: after `waitMs`, but once more right before the deadline unless the service asked for longer. */
  #plan(watched: Watched, waitMs: number): void {
    const now = this.#now();
    const at = now + waitMs;
    const isLast = at > this.#deadline && now < this.#deadline;
    this.#schedule.add(isLast ? Math.max(this.#deadline, watched.notBefore) : at, watched);
  }

  #judgeDeadline(): void {
    if (this.#now() < this.#deadline || this.#underWay > 0) return;
    for (const { requestId, status } of this.#schedule.drain()) {
      this.#live--;
      this.#events.push({ kind: "timeout", requestId, status, ...this.#moment() });
    }
  }

  #noteQuiet(): void {
    if (this.#now() - this.#lastChange < UNCHANGED_MS) return;
    this.#lastChange = this.#now();
    this.#events.push({ kind: "unchanged", elapsedMs: this.#now() - this.#start });
  }

  /** Waits for whatever comes first: a poll that ends, one that is due, an id, the deadline, the signal. */
  async #idle(): Promise<void> {
    const nextPoll = Math.max(this.#schedule.nextAt(), this.#nextLaunch);
    const next = Math.min(nextPoll, this.#deadline, this.#lastChange + UNCHANGED_MS);
    // With a full pool, or a deadline that only waits for the last polls, nothing but their end matters.
    const isBlocked = this.#underWay > 0 && (this.#underWay >= POOL_SIZE || next <= this.#now());
    const early = await this.#waker.sleepUntil(isBlocked ? Number.POSITIVE_INFINITY : next);
    // The machine slept: nothing that was planned by the monotonic clock means anything now.
    if (early) this.#schedule.allAt(this.#now(), ({ notBefore }) => notBefore);
  }

  #age({ createdAt, since }: Watched): number {
    const watchedFor = this.#now() - since;
    return createdAt === undefined ? watchedFor : Math.max(watchedFor, this.#ports.clock.now() - createdAt);
  }

  #now(): number {
    return this.#ports.clock.monotonic();
  }

  #moment(): Moment {
    return { at: this.#ports.clock.now(), elapsedMs: this.#now() - this.#start };
  }
}
