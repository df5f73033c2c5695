import { capPollWait } from "../../client/calls/failure-policy.js";
import type { EventTime } from "../../client/calls/watch/watch-types.js";
import { findStartTime } from "../../client/store/history/history-records.js";
import type { Account } from "../../client/workflows/account.js";
import type { BatchRunEvent } from "../../client/workflows/batch/batch-context.js";
import type { NamedTarget } from "../../client/workflows/find-and-query-requests.js";
import type { FollowEvent, WatchOutcome } from "../../client/workflows/follow-requests.js";
import type { Clock } from "../../core/clock.js";
import { isFinal, type Status } from "../../core/protocol/conversation.js";
import { describeProgress } from "../../core/text/describe-progress.js";
import { shortenText } from "../../core/text/format-text.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { formatDuration, formatIsoDate } from "../../core/text/time-format.js";
import { SILENT_WAIT_MS } from "../command-context.js";
import type { Terminal } from "../terminal/reporter.js";
import { warnOfUnrecordedState } from "./show-states.js";

interface ShownProgress {
  states: readonly (Status | null)[];
  elapsedMs: number;
  /** The progress that the service reports; only if a single request is watched. */
  progress?: unknown;
  /** The usual duration of a run, in words, if known. */
  usual?: string | undefined;
  /** The question; only if a single request is watched and the question is known. */
  question?: string | undefined;
}

/** Formats the live line: the state of a single request, or how many of several are done and in each other state. */
export function formatLiveStates({
  states,
  elapsedMs,
  progress,
  usual,
  question = "",
}: ShownProgress): string {
  const elapsed = formatDuration(elapsedMs) + (usual === undefined ? "" : ` (${usual})`);
  if (states.length === 1)
    return [
      escapeLine(states[0] ?? "waiting"),
      describeProgress(progress),
      elapsed,
      escapeLine(shortenText(question, 400)),
    ]
      .filter(Boolean)
      .join("  ");
  const done = states.filter((status) => status !== null && isFinal(status)).length;
  const counts = new Map<string, number>();
  for (const status of states)
    if (status === null || !isFinal(status))
      counts.set(status ?? "waiting", (counts.get(status ?? "waiting") ?? 0) + 1);
  const running = [...counts].map(([status, count]) => `${count} ${escapeLine(status)}`).join(", ");
  return `${done} of ${states.length} done${running ? `, ${running}` : ""}  ${elapsed}`;
}

export function formatStateChange(requestId: string, status: Status, elapsedMs: number): string {
  return `${requestId} is ${escapeLine(status)} (${formatDuration(elapsedMs)})`;
}

export interface WatchLine extends EventTime {
  requestId: string | null;
  status: Status | null;
  previous: Status | null;
  final: boolean;
  /** The progress that the service reports. */
  progress?: unknown;
}

export function buildWatchJson({ requestId, status, previous, at, elapsedMs, final, progress }: WatchLine) {
  return {
    request_id: requestId,
    status,
    previous_status: previous,
    at: new Date(at).toISOString(),
    elapsed_ms: Math.round(elapsedMs),
    final,
    ...(progress !== undefined && !final && { progress }),
  };
}

/** Describes a request that probably does not continue by itself, and what the user can do. */
function describeStuck(event: { requestId: string; word: string; waitsForSomebody: boolean }): string {
  const { requestId, waitsForSomebody } = event;
  const word = escapeLine(event.word);
  // Do not suggest a stop here, because most providers whose requests wait for a person cannot stop a request.
  const what = waitsForSomebody
    ? `is waiting for your input (${word}): answer it at the provider`
    : `has been in the unknown state ${word} for ten minutes: look at the service's own page, or stop it with: research stop ${requestId}`;
  return `${requestId} ${what}. Polling goes on`;
}

/** Formats the notification at the end of a wait, with our words and an id only: no text from the service. */
export function formatNotification(outcomes: readonly Pick<WatchOutcome, "requestId" | "status">[]): string {
  const isOver = ({ status }: Pick<WatchOutcome, "status">) => status !== null && isFinal(status);
  const [first] = outcomes;
  if (outcomes.length !== 1 || !first)
    return `${outcomes.filter(isOver).length} of ${outcomes.length} requests have ended`;
  return `${first.requestId} ${isOver(first) ? `is ${first.status}` : "has not ended"}`;
}

/** Describes how long requests usually take, and how long the watched ones took. */
export class DurationReport {
  /** The usual duration of a run, in words; undefined if too few durations are known. */
  readonly usual: string | undefined;
  /** The requests that had ended before they were first polled, so that the time of their end is unknown. */
  readonly #endedBefore = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly targets: readonly NamedTarget[],
  ) {
    this.usual = targets[0] && describeUsualLength(targets[0].account);
  }

  apply(event: FollowEvent): void {
    if (event.kind === "state" && event.final && event.previous === null)
      this.#endedBefore.add(event.requestId);
  }

  /** Formats how long the requests took; undefined unless all have ended. `elapsedMs`: since the command began. */
  formatText(outcomes: readonly WatchOutcome[], elapsedMs: number): string | undefined {
    const [first, ...others] = outcomes;
    if (!first || outcomes.some(({ kind }) => kind !== "final")) return undefined;
    const aside = this.usual === undefined ? "" : ` (${this.usual})`;
    if (others.length > 0)
      return `all ${outcomes.length} had ended after ${formatDuration(elapsedMs)}${aside}`;
    const entry = this.targets.find(({ requestId }) => requestId === first.requestId)?.entry;
    const sinceStart = entry ? this.clock.now() - findStartTime(entry) : Number.NaN;
    // The duration is unknown if the clock was set back or this machine did not create the request.
    const isKnown = sinceStart >= elapsedMs;
    const atMost = this.#endedBefore.has(first.requestId) ? "at most " : "";
    if (atMost !== "" && !(isKnown && sinceStart >= TELLING_MS)) return undefined;
    return `${first.requestId} took ${atMost}${formatDuration(isKnown ? sinceStart : elapsedMs)}${aside}`;
  }
}

/** Minimum duration of a run that counts, in milliseconds: shorter ones do not show how long research takes. */
const TELLING_MS = 5_000;
/** Minimum number of finished runs for a usual duration (contract §6). */
const LEAST_RUNS = 5;
/** Number of newest runs that count, because old durations say little about today. */
const RUNS = 200;

/** Describes the range of the middle half of the durations at this origin; undefined for fewer than five runs. */
export function describeUsualLength({ history, origin }: Account): string | undefined {
  const sorted = (history?.listDurations(origin, RUNS) ?? []).sort((a, b) => a - b);
  if (sorted.length < LEAST_RUNS) return undefined;
  const formatAt = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  if (formatAt(0.75) < TELLING_MS) return undefined;
  const [from, to] = [formatDuration(formatAt(0.25)), formatDuration(formatAt(0.75))];
  return from === to ? `usually ${from}` : `usually ${from} to ${to}`;
}

/** Maximum wait in milliseconds that is not announced while polls fail. It equals the time for which a watch may otherwise be silent. */
const LONG_WAIT_MS = 300_000;

type WaitEvent = Extract<
  FollowEvent | BatchRunEvent,
  { kind: "trouble" | "recovered" | "asked-to-wait" | "stuck" | "not-observed" }
>;

/** Reports what happens while a command waits for requests: once when polls begin to fail, and once when they succeed again. */
export class WaitReport {
  /** The error with which the current or last series of failed polls began. */
  #first: unknown;

  constructor(private readonly terminal: Pick<Terminal, "host" | "reporter">) {}

  /** `prefix`: put before the message about a failure. */
  async show(event: WaitEvent, prefix = ""): Promise<void> {
    const { reporter, host } = this.terminal;
    const now = host.clock.now();
    switch (event.kind) {
      case "trouble":
        this.#first = event.error;
        return reporter.writeNotice("TROUBLE", prefix + formatTrouble(event, now));
      case "recovered": {
        const when = "elapsedMs" in event ? `, ${formatDuration(event.elapsedMs)} into this watch` : "";
        return reporter.writeNotice("RECOVERED", `the service answers again${when}`);
      }
      case "asked-to-wait":
        // The line about the first failure has already announced its wait.
        if (event.error === this.#first || event.waitMs <= LONG_WAIT_MS) return;
        return reporter.writeNotice(
          "WAITING",
          `the service asked to wait ${formatWaitEnd(event.waitMs, now)}`,
        );
      case "stuck":
        return reporter.writeNotice("STUCK", describeStuck(event));
      case "not-observed":
        return warnOfUnrecordedState(reporter, event.error);
    }
  }
}

/** Describes the first failure, and when the command tries again. `now`: epoch milliseconds. */
function formatTrouble(event: WaitEvent & { kind: "trouble" }, now: number): string {
  const { error } = event;
  const message = error.message.replace(/\.$/, "");
  const activity = "activity" in event ? event.activity : "poll";
  if (activity === "create") return `${message}; it will be sent again`;
  if (activity === "fetch") return `${message}; the result will be fetched again`;
  const waitMs = capPollWait((error.retryAfter ?? 0) * 1_000);
  const when = waitMs > SILENT_WAIT_MS ? ` in ${formatWaitEnd(waitMs, now)}` : "";
  return `${message}; polling goes on${when}`;
}

/** Formats a wait in milliseconds and the time of its end. `now`: epoch milliseconds. */
function formatWaitEnd(waitMs: number, now: number): string {
  return `${formatDuration(waitMs)} (until ${formatIsoDate(now + waitMs)})`;
}
