import { parseEpochMs } from "../../core/clock.js";
import type { LocalError } from "../../core/files/local-error.js";
import { isFinal, type Status } from "../../core/protocol/conversation.js";
import type { ResearchError } from "../calls/errors.js";
import type { StatusData } from "../calls/research-client.js";
import { learnPollInterval } from "../calls/watch/poll-interval.js";
import type {
  GiveUpReason,
  StateChange,
  WatchEvent,
  WatchOptions,
  WatchTarget,
} from "../calls/watch/watch-types.js";
import type { Account } from "./account.js";
import { AsyncQueue } from "./batch/async-queue.js";
import { explainForeign404, findRecordedAt, recordState, type Target } from "./find-and-query-requests.js";

export type FollowOptions = Omit<WatchOptions, "pollInterval">;

/** An event of a watch, or the error because of which a state was not recorded. */
export type FollowEvent =
  | WatchEvent
  /** A state was seen but could not be recorded in the history. The watch goes on. */
  | { kind: "not-observed"; requestId: string; error: LocalError };

/** Number of the newest finished runs that determine the poll interval, because older durations say little about today. */
const RUNS = 200;

/**
 * Watches requests to their end and records each new state in the history. Polls each request at its own account, and
 * does not poll one whose end is known. Learns the poll interval from the finished runs of the origin, if there are
 * enough. Ends when every request is final, given up or out of time. Throws `signal.reason` after an abort. Watches a
 * request once even if it is named twice.
 */
export async function* followRequests(
  targets: readonly Target[],
  options: FollowOptions = {},
): AsyncGenerator<FollowEvent, void> {
  const left: Target[] = [];
  const ended = new Set<string>();
  for (const target of targets) {
    const end = findKnownFinalState(target);
    if (!end) left.push(target);
    else if (!ended.has(end.requestId)) yield end;
    if (end) ended.add(end.requestId);
  }
  const [first, ...others] = new Set(left.map(({ account }) => account));
  if (!first) return;
  if (others.length === 0) return yield* followAtAccount(first, left, options);
  const ending = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
  const events = new AsyncQueue<FollowEvent>();
  const watches = [first, ...others].map(async (account) => {
    const targets = left.filter((target) => target.account === account);
    for await (const event of followAtAccount(account, targets, { ...options, signal })) events.push(event);
  });
  const work = Promise.all(watches).finally(() => events.close());
  // Mark the rejection as handled until the promise is awaited below.
  work.catch(() => {});
  try {
    yield* events;
  } finally {
    ending.abort();
    await Promise.allSettled(watches);
  }
  await work;
}

/** Returns the final state of a request if its create call or the history shows the end; undefined otherwise. */
function findKnownFinalState({ requestId, entry, end, account }: Target): StateChange | undefined {
  const data = end ?? { request_id: requestId, status: entry?.status ?? "" };
  if (!isFinal(data.status)) return undefined;
  const seen = { requestId, status: data.status, previous: null, final: true, data };
  return { kind: "state", ...seen, at: account.clock.now(), elapsedMs: 0 };
}

/** Follows requests of one account, including those that `source` yields later. */
export async function* followAtAccount(
  account: Account,
  source: readonly Target[] | AsyncIterable<Target>,
  options: FollowOptions,
): AsyncGenerator<FollowEvent, void> {
  const targets = new Map<string, Target>();
  const isNew = (target: Target) => !targets.has(target.requestId) && targets.set(target.requestId, target);
  const toWatch = (target: Target): WatchTarget => ({
    ...{ requestId: target.requestId, createdAt: parseEpochMs(target.entry?.created_at) },
    recordedAt: findRecordedAt(target),
  });
  async function* iterateNew(later: AsyncIterable<Target>) {
    for await (const target of later) if (isNew(target)) yield toWatch(target);
  }
  const watched = Symbol.asyncIterator in source ? iterateNew(source) : source.filter(isNew).map(toWatch);
  const pollInterval = learnPollInterval(account.history?.listDurations(account.origin, RUNS) ?? []);
  for await (const event of account.client.watch(watched, {
    ...(pollInterval && { pollInterval }),
    ...options,
  })) {
    if (event.kind === "state") {
      const { requestId, data } = event;
      const target = targets.get(requestId);
      const error = target && recordState(target, data as StatusData);
      if (error) yield { kind: "not-observed", requestId, error };
      if (event.final) targets.delete(requestId);
    }
    const target = event.kind === "given-up" && targets.get(event.requestId);
    if (target) event.error = explainForeign404(event.error, target) as ResearchError;
    yield event;
  }
}

/** The outcome of a followed request so far. `status` is the last known state; null before the first answer. */
export type WatchOutcome = { requestId: string; status: Status | null } & (
  | { kind: "running" | "final" }
  | GiveUpReason
);

/** Collects the events of `follow` into one outcome for each request. */
export class WatchProgress {
  readonly #outcomes: Map<string, WatchOutcome>;

  constructor(requestIds: Iterable<string>) {
    const buildRunning = (requestId: string): WatchOutcome => ({ requestId, status: null, kind: "running" });
    this.#outcomes = new Map([...requestIds].map((id) => [id, buildRunning(id)]));
  }

  /** Applies an event. Ignores events that do not change the outcome of a request. */
  apply(event: FollowEvent): void {
    if (event.kind === "state") {
      const { requestId, status } = event;
      this.#outcomes.set(requestId, { requestId, status, kind: isFinal(status) ? "final" : "running" });
    } else if (event.kind === "given-up" || event.kind === "timeout") {
      const { at: _, elapsedMs: __, ...outcome } = event;
      this.#outcomes.set(event.requestId, outcome);
    }
  }

  /** The outcome of each request, in the order of the constructor's ids. */
  get outcomes(): WatchOutcome[] {
    return [...this.#outcomes.values()];
  }

  /** The outcomes of the requests that are still followed. */
  get running(): WatchOutcome[] {
    return this.outcomes.filter(({ kind }) => kind === "running");
  }
}
