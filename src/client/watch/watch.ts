import { epochOf } from "../../clock.js";
import { waitsForSomebody } from "../../dialects/dialect.js";
import { type Data, isFinal, STATUSES } from "../../protocol/conversation.js";
import type { Unsuccessful } from "../classify-response.js";
import { Deadlines } from "./deadlines.js";
import { EventQueue } from "./event-queue.js";
import { DEFAULT_PATIENCE_MS, decideAfterFailure } from "./give-up-policy.js";
import { InterruptibleSleep } from "./interruptible-sleep.js";
import { ageOf, pollIntervalFor } from "./poll-interval.js";
import { PollScheduler } from "./poll-scheduler.js";
import type { WatchPorts } from "./ports.js";
import { newlyWatched, TargetQueue } from "./target-queue.js";
import type {
  Ending,
  PollInterval,
  WatchEvent,
  Watched,
  WatchOptions,
  WatchSource,
  WatchTarget,
} from "./types.js";

/** A state that is not known is said after this long, in milliseconds. */
const STUCK_MS = 600_000;

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
    watcher.read(source);
    yield* watcher.run();
  } finally {
    watcher.dispose();
  }
}

class Watcher {
  readonly #ports: WatchPorts;
  readonly #options: WatchOptions;
  readonly #pollInterval: PollInterval;
  readonly #events: EventQueue;
  readonly #deadlines: Deadlines;
  readonly #sleep: InterruptibleSleep;
  readonly #targets = new TargetQueue();
  readonly #scheduler: PollScheduler;
  readonly #polling = new AbortController();
  #live = 0;
  #failing = 0;
  #answered: boolean;
  #defect: { error: unknown } | undefined;

  constructor(ports: WatchPorts, options: WatchOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#pollInterval = pollIntervalFor(options);
    this.#events = new EventQueue(ports.clock);
    this.#answered = options.answered ?? false;
    this.#deadlines = new Deadlines(options);
    const pace = options.interval === undefined ? ports.pace : { betweenMs: 0, nextStart: 0 };
    this.#scheduler = new PollScheduler(this.#deadlines, pace);
    this.#sleep = new InterruptibleSleep(ports.clock, options.signal);
  }

  read(source: WatchSource): void {
    this.#targets.read(source, (target) => this.#add(target), this.#sleep.interrupt);
  }

  dispose(): void {
    this.#sleep.dispose();
    this.#polling.abort(new Error("the watch is over"));
  }

  async *run(): AsyncGenerator<WatchEvent, void> {
    while (true) {
      this.#options.signal?.throwIfAborted();
      if (this.#defect) throw this.#defect.error;
      this.#launchDue();
      this.#events.addUnchanged();
      for (const event of this.#events.takeAll()) yield event;
      // More may have happened while the caller dealt with those.
      if (!this.#events.isEmpty) continue;
      if (this.#live === 0 && !this.#targets.isOpen) return;
      await this.#idle();
    }
  }

  #add(target: WatchTarget): void {
    const now = this.#now();
    this.#scheduler.schedule(newlyWatched(target, now), now, 0);
    this.#live++;
  }

  #launchDue(): void {
    const now = this.#now();
    for (let watched = this.#scheduler.takeDue(now); watched; watched = this.#scheduler.takeDue(now)) {
      // It is due because its time is over, and the service asked for a longer wait, or it had its last poll.
      const isOver = watched.hadLastPoll && now >= this.#deadlines.of(watched);
      if (isOver || watched.notBefore > now) {
        this.#expire(watched);
        continue;
      }
      this.#scheduler.started(now);
      watched.startedAt = now;
      // A poll throws nothing that is an answer: it ends the watch, or comes too late to matter.
      this.#poll(watched).catch((error: unknown) => {
        this.#defect = { error };
        this.#sleep.interrupt();
      });
    }
  }

  async #poll(watched: Watched): Promise<void> {
    const timeout = this.#deadlines.of(watched) - this.#now() + LAST_POLL_MS;
    const result = await this.#ports.poll(watched.requestId, { signal: this.#polling.signal, timeout });
    this.#scheduler.finished();
    if (this.#polling.signal.aborted) return;
    watched.polls++;
    if (result.kind === "data") this.#succeed(watched, result.data, result.waitMs);
    else this.#fail(watched, result);
    this.#sleep.interrupt();
  }

  #succeed(watched: Watched, data: Data, askedMs = 0): void {
    const status = String(data.status);
    const { requestId, status: previous } = watched;
    this.#answered = true;
    if (watched.failures > 0 && --this.#failing === 0) {
      this.#events.add({ kind: "recovered", elapsedMs: this.#events.moment().elapsedMs });
    }
    watched.failures = 0;
    watched.quietSince = this.#now();
    watched.createdAt ??= epochOf(data.created_at);
    if (status !== "PENDING") watched.isQueued = false;
    const progress = JSON.stringify(data.progress);
    if (status === previous && progress !== watched.progress)
      this.#events.add({ kind: "progress", requestId, data });
    watched.progress = progress;
    if (status !== previous) {
      const seen = { requestId, status, previous, final: isFinal(status), data };
      this.#events.add({ kind: "state", ...seen, ...this.#events.moment() });
      watched.status = status;
      watched.statusSince = this.#now();
    }
    this.#noteStuck(watched, data);
    if (isFinal(status)) this.#live--;
    else {
      watched.notBefore = this.#now() + askedMs;
      this.#plan(watched, Math.max(askedMs, this.#pollInterval(this.#age(watched), this.#ports.random())));
    }
  }

  /** Such a request may be polled for ever, so its user is told once. */
  #noteStuck(watched: Watched, data: Data): void {
    const { requestId, status, statusSince = 0, isStuck = false } = watched;
    const waits = waitsForSomebody(data);
    const isUnknown = !STATUSES.some((known) => known === status);
    if (isStuck || !(waits || (isUnknown && this.#now() - statusSince >= STUCK_MS))) return;
    watched.isStuck = true;
    const word = String(data.provider_status ?? status);
    this.#events.add({ kind: "stuck", requestId, word, waitsForSomebody: waits });
  }

  #fail(watched: Watched, result: Unsuccessful): void {
    const { error } = result;
    const { requestId } = watched;
    const { patience = DEFAULT_PATIENCE_MS } = this.#options;
    const [now, random] = [this.#now(), this.#ports.random()];
    watched.failures++;
    const circumstances = { answered: this.#answered, patience, now, wallNow: this.#ports.clock.now() };
    const next = decideAfterFailure(
      watched,
      result,
      circumstances,
      this.#pollInterval(this.#age(watched), random),
      random,
    );
    const isFirst = watched.failures === 1 && ++this.#failing === 1;
    if ("end" in next) {
      this.#drop(watched, { kind: "given-up", error: next.end });
      return;
    }
    if (isFirst) this.#events.add({ kind: "trouble", requestId, error });
    if (next.askedMs > 0) {
      watched.quietSince += next.askedMs;
      watched.notBefore = now + next.askedMs;
      this.#events.add({ kind: "asked-to-wait", requestId, waitMs: next.askedMs, error });
    }
    this.#plan(watched, next.waitMs);
  }

  #plan(watched: Watched, waitMs: number): void {
    if (!this.#scheduler.schedule(watched, this.#now(), waitMs)) this.#expire(watched);
  }

  #expire(watched: Watched): void {
    this.#drop(watched, { kind: "timeout", limit: this.#deadlines.reached(watched, this.#now()) });
  }

  #drop(watched: Watched, end: Ending): void {
    const { requestId, status, failures } = watched;
    if (failures > 0) this.#failing--;
    this.#live--;
    this.#events.add({ ...end, requestId, status, ...this.#events.moment() });
  }

  /** Waits for the first of: a poll that ends, one that is due, an id, the deadline, the signal. */
  async #idle(): Promise<void> {
    const next = Math.min(this.#scheduler.nextStart(), this.#events.unchangedAt);
    if (await this.#sleep.sleepUntil(next)) this.#scheduler.rescheduleAll(this.#now());
  }

  #age(watched: Watched): number {
    return ageOf(watched, this.#now(), this.#ports.clock.now());
  }

  #now(): number {
    return this.#ports.clock.monotonic();
  }
}
