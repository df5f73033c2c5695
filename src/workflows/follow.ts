import type { StatusData } from "../client/client.js";
import type { ResearchError } from "../client/errors.js";
import { learnedInterval } from "../client/watch/poll-interval.js";
import type { PollInterval, WatchEvent, WatchOptions, WatchTarget } from "../client/watch/types.js";
import { epochOf } from "../clock.js";
import type { LocalError } from "../store/errors.js";
import { observe } from "./observe.js";
import type { Ports } from "./ports.js";
import { type Target, withItsOrigin } from "./targets.js";

export type FollowOptions = Omit<WatchOptions, "pollInterval">;

/** What a watch sees, and what keeps it from being recorded. */
export type FollowEvent =
  | WatchEvent
  /** A state was seen and could not be kept in the history; the watch goes on. */
  | { kind: "not-observed"; requestId: string; error: LocalError };

/** All targets at once, or as they come while the watch runs. */
export type TargetSource = readonly Target[] | AsyncIterable<Target>;

/** How many of the newest finished runs are looked at: what a service took long ago says little about today. */
const RUNS = 200;

/**
 * Watches requests to their end and keeps each state that is seen in the history. The poll interval is learned
 * from the finished runs of the origin, if enough are known. Ends when the source has ended and every request is
 * final, given up or out of time; throws `signal.reason` when aborted. A request that is named twice is watched once.
 */
export async function* follow(
  ports: Pick<Ports, "client" | "history" | "origin">,
  source: TargetSource,
  options: FollowOptions = {},
): AsyncGenerator<FollowEvent, void> {
  const targets = new Map<string, Target>();
  const isNew = (target: Target) => !targets.has(target.requestId) && targets.set(target.requestId, target);
  const watched =
    Symbol.asyncIterator in source ? eachNew(source, isNew) : source.filter(isNew).map(watchTarget);
  for await (const event of ports.client.watch(watched, { ...intervalFromHistory(ports), ...options })) {
    if (event.kind === "state") {
      const { requestId, data } = event;
      const error = observe(ports, targets.get(requestId)?.entry, data as StatusData);
      if (error) yield { kind: "not-observed", requestId, error };
      if (event.final) targets.delete(requestId);
    }
    const target = event.kind === "given-up" && targets.get(event.requestId);
    if (target) event.error = withItsOrigin(event.error, target, ports.origin) as ResearchError;
    yield event;
  }
}

/** What the client has to know of a target. */
function watchTarget({ requestId, entry }: Target): WatchTarget {
  return { requestId, createdAt: epochOf(entry?.created_at), recordedAt: epochOf(entry?.sent_at) };
}

async function* eachNew(
  source: AsyncIterable<Target>,
  isNew: (target: Target) => unknown,
): AsyncGenerator<WatchTarget, void> {
  for await (const target of source) if (isNew(target)) yield watchTarget(target);
}

function intervalFromHistory({ history, origin }: Pick<Ports, "history" | "origin">): {
  pollInterval?: PollInterval;
} {
  const pollInterval = learnedInterval(history?.durations(origin, RUNS) ?? []);
  return pollInterval ? { pollInterval } : {};
}
