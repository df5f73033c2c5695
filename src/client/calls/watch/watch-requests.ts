import { type Clock, parseEpochMs } from "../../../core/clock.js";
import { type Data, isFinal, STATUSES } from "../../../core/protocol/conversation.js";
import { isWaitingForPerson } from "../../dialects/providers.js";
import type { Classification, Success, Unsuccessful } from "../classify-response.js";
import { RequestPacer } from "../request-pacer.js";
import { DEFAULT_PATIENCE_MS, decideAfterFailedPoll } from "./give-up-policy.js";
import { InterruptibleSleep } from "./interruptible-sleep.js";
import { computeAdaptiveInterval, computeRequestAge } from "./poll-interval.js";
import { PollScheduler } from "./poll-scheduler.js";
import type {
  EventTime,
  GiveUpReason,
  PollInterval,
  WatchEvent,
  WatchOptions,
  WatchSource,
  WatchTarget,
} from "./watch-types.js";
import type { WatchedRequest } from "./watched-request.js";

/** Time without a change after which the watch reports that nothing has changed, in milliseconds. */
const UNCHANGED_MS = 300_000;

/** Time in an unknown state after which the watch reports it, in milliseconds. */
const STUCK_MS = 600_000;

/** Time that a poll gets even if it starts just before the deadline, in milliseconds. */
const LAST_POLL_MS = 2_000;

/** What a watch gets from outside: time, jitter, and a function that polls one id. */
export interface WatchContext {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  pace: RequestPacer;
  /** Polls one id; never rejects. `total`: time for the poll in milliseconds; `last`: the previous success. */
  poll: (
    requestId: string,
    limits: { signal: AbortSignal; total: number },
    last: Success | undefined,
  ) => Promise<Classification>;
}

/** Watches many ids in one loop until the source has ended and each id is final or given up. Throws `signal.reason` after an abort. */
export async function* watchRequests(
  context: WatchContext,
  source: WatchSource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void> {
  const watcher = new Watcher(context, options);
  try {
    watcher.read(source);
    yield* watcher.run();
  } finally {
    watcher.dispose();
  }
}

class Watcher {
  readonly #pollInterval: PollInterval;
  readonly #sleep: InterruptibleSleep;
  readonly #scheduler: PollScheduler;
  readonly #polling = new AbortController();
  readonly #start: number;
  /** Monotonic ms of the last state change, or of the last report that nothing has changed. */
  #lastChange: number;
  #events: WatchEvent[] = [];
  /** Whether the source may yield more. */
  #isOpen = false;
  #live = 0;
  #failing = 0;
  #answered: boolean;
  /** What the source threw, or a defect of a poll; ends the watch. */
  #failure: { error: unknown } | undefined;

  constructor(
    private readonly context: WatchContext,
    private readonly options: WatchOptions,
  ) {
    const { interval, pollInterval = computeAdaptiveInterval } = options;
    this.#pollInterval = interval === undefined ? pollInterval : () => interval;
    this.#start = this.#lastChange = this.#readNow();
    this.#answered = options.answered ?? false;
    const pace = interval === undefined ? context.pace : new RequestPacer(0);
    this.#scheduler = new PollScheduler(options, pace);
    this.#sleep = new InterruptibleSleep(context.clock, options.signal);
  }

  /** Reads the ids: all at once, or from a source that yields more while the watch runs. */
  read(source: WatchSource): void {
    if (typeof source === "string") this.#watch(source);
    else if (Symbol.iterator in source) for (const target of source) this.#watch(target);
    else {
      this.#isOpen = true;
      void this.#pull(source);
    }
  }

  dispose(): void {
    this.#sleep.dispose();
    this.#scheduler.dispose();
    this.#polling.abort(new Error("the watch is over"));
  }

  async *run(): AsyncGenerator<WatchEvent, void> {
    while (true) {
      this.options.signal?.throwIfAborted();
      if (this.#failure) throw this.#failure.error;
      this.#launchDue();
      if (this.#readNow() >= this.#lastChange + UNCHANGED_MS) {
        this.#lastChange = this.#readNow();
        this.#events.push({ kind: "unchanged", elapsedMs: this.#readMoment().elapsedMs });
      }
      for (const event of this.#events.splice(0)) yield event;
      // More events may have come while the caller handled these.
      if (this.#events.length > 0) continue;
      if (this.#live === 0 && !this.#isOpen) return;
      await this.#waitIdle();
    }
  }

  async #pull(source: AsyncIterable<WatchTarget | string>): Promise<void> {
    try {
      for await (const target of source) {
        this.#watch(target);
        this.#sleep.interrupt();
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#isOpen = false;
    this.#sleep.interrupt();
  }

  #watch(target: WatchTarget | string): void {
    const now = this.#readNow();
    const watched: WatchedRequest = {
      ...(typeof target === "string" ? { requestId: target } : target),
      ...{ status: null, since: now, quietSince: now, notBefore: 0 },
      ...{ polls: 0, failures: 0, startedAt: Number.NEGATIVE_INFINITY, hadLastPoll: false },
    };
    this.#scheduler.schedule(watched, now, 0);
    this.#live++;
  }

  #launchDue(): void {
    const now = this.#readNow();
    for (let watched = this.#scheduler.popDue(now); watched; watched = this.#scheduler.popDue(now)) {
      if (watched.signal?.aborted) {
        this.#forget(watched);
        continue;
      }
      // The timeout is over, and the last poll was made or Retry-After forbids it. If many ids delay the last poll,
      // wait for it only while no state of this id is known.
      const overMs = now - this.#scheduler.getDeadline(watched);
      const isOver =
        overMs >= 0 && (watched.hadLastPoll || (overMs >= LAST_POLL_MS && watched.status !== null));
      if (isOver || watched.notBefore > now) {
        this.#expire(watched);
        continue;
      }
      this.#scheduler.noteStart(now);
      watched.startedAt = now;
      // A poll rejects only because of a defect. That ends the watch, unless the watch is already over.
      this.#poll(watched).catch((error: unknown) => {
        this.#failure = { error };
        this.#sleep.interrupt();
      });
    }
  }

  async #poll(watched: WatchedRequest): Promise<void> {
    const { startedAt } = watched;
    const total = Math.max(this.#scheduler.getDeadline(watched) - this.#readNow(), LAST_POLL_MS);
    const limits = { signal: this.#polling.signal, total };
    const result = await this.context.poll(watched.requestId, limits, watched.last);
    this.#scheduler.noteEnd(startedAt);
    if (this.#polling.signal.aborted) return;
    watched.polls++;
    if (result.kind === "data") this.#succeed(watched, result);
    else this.#fail(watched, result);
    this.#sleep.interrupt();
  }

  #succeed(watched: WatchedRequest, result: Success): void {
    const { data, waitMs: askedMs } = result;
    const status = String(data.status);
    const { requestId, status: previous } = watched;
    this.#answered = true;
    if (watched.failures > 0 && --this.#failing === 0) {
      this.#events.push({ kind: "recovered", elapsedMs: this.#readMoment().elapsedMs });
    }
    watched.failures = 0;
    // Keep the previous object if the data is the same, because a new long-lived object for each poll slows garbage collection.
    if (data !== watched.last?.data) watched.last = result.answer && result;
    watched.quietSince = this.#readNow();
    watched.createdAt ??= parseEpochMs(data.created_at);
    const progress = JSON.stringify(data.progress);
    if (status === previous && progress !== watched.progress)
      this.#events.push({ kind: "progress", requestId, data });
    watched.progress = progress;
    if (status !== previous) {
      const seen = { requestId, status, previous, final: isFinal(status), data };
      this.#events.push({ kind: "state", ...seen, ...this.#readMoment() });
      this.#lastChange = this.#readNow();
      watched.status = status;
      watched.statusSince = this.#lastChange;
    }
    this.#noteStuck(watched, data);
    if (isFinal(status)) this.#live--;
    else {
      watched.notBefore = this.#readNow() + askedMs;
      this.#plan(
        watched,
        Math.max(askedMs, this.#pollInterval(this.#computeAge(watched), this.context.random())),
      );
    }
  }

  /** Reports once that a request waits for a person or stays in an unknown state: such a request may be polled for ever. */
  #noteStuck(watched: WatchedRequest, data: Data): void {
    const { requestId, status, statusSince = 0, isStuck = false } = watched;
    const waits = isWaitingForPerson(data);
    const isUnknown = !STATUSES.some((knownWord) => knownWord === status);
    if (isStuck || !(waits || (isUnknown && this.#readNow() - statusSince >= STUCK_MS))) return;
    watched.isStuck = true;
    const word = String(data.provider_status ?? status);
    this.#events.push({ kind: "stuck", requestId, word, waitsForSomebody: waits });
  }

  #fail(watched: WatchedRequest, result: Unsuccessful): void {
    const { error } = result;
    const { requestId } = watched;
    const { patience = DEFAULT_PATIENCE_MS } = this.options;
    const [now, random] = [this.#readNow(), this.context.random()];
    watched.failures++;
    const circumstances = { answered: this.#answered, patience, now, wallNow: this.context.clock.now() };
    const next = decideAfterFailedPoll(
      watched,
      result,
      circumstances,
      this.#pollInterval(this.#computeAge(watched), random),
      random,
    );
    const isFirst = watched.failures === 1 && ++this.#failing === 1;
    if ("end" in next) {
      this.#drop(watched, { kind: "given-up", error: next.end });
      return;
    }
    if (isFirst) this.#events.push({ kind: "trouble", requestId, error });
    if (next.askedMs > 0) {
      watched.quietSince += next.askedMs;
      watched.notBefore = now + next.askedMs;
      this.#events.push({ kind: "asked-to-wait", requestId, waitMs: next.askedMs, error });
    }
    this.#plan(watched, next.waitMs);
  }

  #plan(watched: WatchedRequest, waitMs: number): void {
    if (!this.#scheduler.schedule(watched, this.#readNow(), waitMs)) this.#expire(watched);
  }

  #expire(watched: WatchedRequest): void {
    this.#drop(watched, { kind: "timeout" });
  }

  #drop(watched: WatchedRequest, end: GiveUpReason): void {
    const { requestId, status } = watched;
    this.#forget(watched);
    this.#events.push({ ...end, requestId, status, ...this.#readMoment() });
  }

  #forget({ failures }: WatchedRequest): void {
    if (failures > 0) this.#failing--;
    this.#live--;
  }

  /** Waits until a poll ends or is due, an id arrives, the deadline passes, or the signal aborts. */
  async #waitIdle(): Promise<void> {
    // A running poll ends the wait anyway, so the report needs no timer.
    const unchangedAt = this.#scheduler.isPolling
      ? Number.POSITIVE_INFINITY
      : this.#lastChange + UNCHANGED_MS;
    const next = Math.min(this.#scheduler.findNextStart(), unchangedAt);
    if (await this.#sleep.sleepUntil(next)) this.#scheduler.rescheduleAll(this.#readNow());
  }

  #readMoment(): EventTime {
    return { at: this.context.clock.now(), elapsedMs: this.#readNow() - this.#start };
  }

  #computeAge(watched: WatchedRequest): number {
    return computeRequestAge(watched, this.#readNow(), this.context.clock.now());
  }

  #readNow(): number {
    return this.context.clock.monotonic();
  }
}
