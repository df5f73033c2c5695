import type { Clock } from "../clock.js";
import { isFinal, type Status } from "../protocol/conversation.js";
import type { Data } from "../protocol/envelope.js";
import { POOL_SIZE } from "./connection.js";
import type { ResearchError } from "./errors.js";
import type { Verdict } from "./judge.js";
import { adaptivePace, BETWEEN_POLLS_MS, fixedPace, type Pace } from "./pace.js";
import { givesUp, pauseAfterFailure } from "./patience.js";
import { Schedule } from "./schedule.js";

export interface WatchTarget {
  requestId: string;
  /** When the service created it, epoch ms, where that is known: polls are paced by its age. */
  createdAt?: number | undefined;
  /** When this machine recorded it, epoch ms. Undefined for an id that somebody else may have mistyped. */
  recordedAt?: number | undefined;
}

export interface WatchOptions {
  signal?: AbortSignal;
  /** Milliseconds until the watch ends by itself; Infinity (the default) for never. */
  timeout?: number;
  /** A fixed wait between two polls of an id, in milliseconds; else adaptive. */
  interval?: number | undefined;
  /** Replaces the adaptive pace, where more is known about how long runs take. */
  pace?: Pace;
  /** Milliseconds without a successful poll after which an id is given up; default 10 minutes. */
  patience?: number;
  /** Whether the service has already answered in this command (a create, say). */
  answered?: boolean;
}

export type WatchEvent =
  /** The first state seen, and each change after it. `elapsedMs` is since the watch began. */
  | {
      kind: "state";
      requestId: string;
      status: Status;
      previous: Status | null;
      at: number;
      elapsedMs: number;
      final: boolean;
      data: Data;
    }
  /** A poll failed where none was failing; one event however many follow. */
  | { kind: "trouble"; requestId: string; error: ResearchError }
  /** No poll is failing any more. */
  | { kind: "recovered"; elapsedMs: number }
  /** The service asked for a wait of this length. */
  | { kind: "asked-to-wait"; requestId: string; waitMs: number; error: ResearchError }
  /** Nothing has changed for five minutes. */
  | { kind: "unchanged"; elapsedMs: number }
  /** No further poll of this id. */
  | {
      kind: "given-up";
      requestId: string;
      status: Status | null;
      at: number;
      elapsedMs: number;
      error: ResearchError;
    }
  /** The time is over for this id; the watch ends when each unfinished one has had this. */
  | { kind: "timeout"; requestId: string; status: Status | null; at: number; elapsedMs: number };

export interface WatchPorts {
  clock: Clock;
  random: () => number;
  poll: (
    requestId: string,
    limits: { signal?: AbortSignal | undefined; timeout?: number },
  ) => Promise<Verdict>;
}

/** One id on its way. Times are monotonic milliseconds. */
export interface Watched extends WatchTarget {
  status: Status | null;
  polls: number;
  /** Polls that failed since the last one that did not. */
  failures: number;
  /** Since when no poll has succeeded, moved on by every wait that the service asked for. */
  quietSince: number;
  /** No poll before this, because the service said so. */
  notBefore: number;
}

const DEFAULT_PATIENCE_MS = 600_000;
const UNCHANGED_MS = 300_000;
/** A poll that is under way when the time is over may still take this long. */
const LAST_POLL_MS = 2_000;

/**
 * Watches many ids in one loop: one pool, one deadline, polls in the order they are due. Yields events until
 * every id is final, given up or out of time; throws `signal.reason` when aborted.
 */
export async function* watch(
  ports: WatchPorts,
  targets: readonly WatchTarget[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void> {
  const watcher = new Watcher(ports, targets, options);
  try {
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
  readonly #schedule = new Schedule<Watched>();
  readonly #polling = new AbortController();
  #events: WatchEvent[] = [];
  #underWay = 0;
  #live: number;
  #failing = 0;
  #answered: boolean;
  #lastChange: number;
  #nextLaunch = 0;
  #wake: (() => void) | undefined;

  constructor(ports: WatchPorts, targets: readonly WatchTarget[], options: WatchOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#pace =
      options.interval === undefined ? (options.pace ?? adaptivePace) : fixedPace(options.interval);
    this.#start = ports.clock.monotonic();
    this.#deadline = this.#start + (options.timeout || Number.POSITIVE_INFINITY);
    this.#answered = options.answered ?? false;
    this.#lastChange = this.#start;
    this.#live = targets.length;
    for (const target of targets) {
      this.#schedule.add(this.#start, {
        ...target,
        status: null,
        polls: 0,
        failures: 0,
        quietSince: this.#start,
        notBefore: 0,
      });
    }
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  end(): void {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
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
      if (this.#live === 0) return;
      if (this.#events.length === 0) await this.#idle();
    }
  }

  #launchDue(): void {
    for (let now = this.#now(); this.#underWay < POOL_SIZE; ) {
      const due = this.#schedule.nextAt();
      // The last polls before the deadline all come at once: the pool alone holds them back.
      if (due > now || (now < this.#nextLaunch && now < this.#deadline)) return;
      const watched = this.#schedule.take();
      if (!watched) return;
      if (this.#options.interval === undefined) this.#nextLaunch = now + BETWEEN_POLLS_MS;
      this.#underWay++;
      void this.#poll(watched);
      now = this.#now();
    }
  }

  async #poll(watched: Watched): Promise<void> {
    const limits = { signal: this.#polling.signal, timeout: this.#deadline - this.#now() + LAST_POLL_MS };
    const verdict = await this.#ports.poll(watched.requestId, limits);
    this.#underWay--;
    if (this.#polling.signal.aborted) return;
    watched.polls++;
    if (verdict.kind === "data") this.#succeed(watched, verdict.data);
    else this.#fail(watched, verdict);
    this.#wake?.();
  }

  #succeed(watched: Watched, data: Data): void {
    const status = String(data.status);
    this.#answered = true;
    if (watched.failures > 0 && --this.#failing === 0)
      this.#events.push({ kind: "recovered", elapsedMs: this.#now() - this.#start });
    watched.failures = 0;
    watched.quietSince = this.#now();
    if (typeof data.created_at === "string") watched.createdAt ??= readDate(data.created_at);
    if (status !== watched.status) {
      const seen = {
        requestId: watched.requestId,
        status,
        previous: watched.status,
        final: isFinal(status),
        data,
      };
      this.#events.push({ kind: "state", ...seen, ...this.#moment() });
      watched.status = status;
      this.#lastChange = this.#now();
    }
    if (isFinal(status)) this.#live--;
    else this.#plan(watched, this.#pace(this.#age(watched), this.#ports.random()));
  }

  #fail(watched: Watched, verdict: Exclude<Verdict, { kind: "data" }>): void {
    const { error } = verdict;
    watched.failures++;
    const now = this.#now();
    const asked = (error.retryAfter ?? 0) * 1_000;
    const patience = this.#options.patience ?? DEFAULT_PATIENCE_MS;
    const wallNow = this.#ports.clock.now();
    if (givesUp(watched, verdict, { answered: this.#answered, patience, now, wallNow })) {
      if (watched.failures > 1) this.#failing--;
      this.#live--;
      this.#events.push({
        kind: "given-up",
        requestId: watched.requestId,
        status: watched.status,
        error,
        ...this.#moment(),
      });
      return;
    }
    if (watched.failures === 1 && ++this.#failing === 1) {
      this.#events.push({ kind: "trouble", requestId: watched.requestId, error });
    }
    if (asked > 0) {
      watched.quietSince += asked;
      watched.notBefore = now + asked;
      this.#events.push({ kind: "asked-to-wait", requestId: watched.requestId, waitMs: asked, error });
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
    this.#schedule.add(
      at > this.#deadline && now < this.#deadline ? Math.max(this.#deadline, watched.notBefore) : at,
      watched,
    );
  }

  #judgeDeadline(): void {
    if (this.#now() < this.#deadline || this.#underWay > 0) return;
    for (const watched of this.#schedule.drain()) {
      this.#live--;
      this.#events.push({
        kind: "timeout",
        requestId: watched.requestId,
        status: watched.status,
        ...this.#moment(),
      });
    }
  }

  #noteQuiet(): void {
    if (this.#now() - this.#lastChange < UNCHANGED_MS) return;
    this.#lastChange = this.#now();
    this.#events.push({ kind: "unchanged", elapsedMs: this.#now() - this.#start });
  }

  /** Waits for whatever comes first: a poll that ends, one that is due, the deadline, the signal. */
  async #idle(): Promise<void> {
    if (this.#options.signal?.aborted) return;
    const woken = new AbortController();
    const wake = new Promise<void>((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
        woken.abort();
      };
    });
    if (this.#underWay >= POOL_SIZE) return wake;
    const next = Math.min(
      Math.max(this.#schedule.nextAt(), this.#nextLaunch),
      this.#deadline,
      this.#lastChange + UNCHANGED_MS,
    );
    const wait = next - this.#now();
    if (this.#underWay > 0 && wait <= 0) return wake;
    const early = await this.#ports.clock.sleep(Math.max(wait, 0), woken.signal).then(
      () => this.#now() < next,
      () => false,
    );
    this.#wake = undefined;
    // The machine slept: nothing that was planned by the monotonic clock means anything now.
    if (early) this.#schedule.allAt(this.#now(), (watched) => watched.notBefore);
  }

  readonly #onAbort = () => this.#wake?.();

  #age(watched: Watched): number {
    const elapsed = this.#now() - this.#start;
    return watched.createdAt === undefined
      ? elapsed
      : Math.max(elapsed, this.#ports.clock.now() - watched.createdAt);
  }

  #now(): number {
    return this.#ports.clock.monotonic();
  }

  #moment(): { at: number; elapsedMs: number } {
    return { at: this.#ports.clock.now(), elapsedMs: this.#now() - this.#start };
  }
}

function readDate(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
