import type { ResearchError } from "../../client/calls/errors.js";
import { limitPollWait } from "../../client/calls/failure-policy.js";
import type { Moment, WatchEvent } from "../../client/calls/watch/types.js";
import { parseTime } from "../../client/store/history/records.js";
import type { Account } from "../../client/workflows/account.js";
import type { FollowEvent, WatchOutcome } from "../../client/workflows/follow.js";
import type { NamedTarget } from "../../client/workflows/requests.js";
import type { Clock } from "../../core/clock.js";
import { isFinal, type Status } from "../../core/protocol/conversation.js";
import { formatDuration, formatIsoDate } from "../../core/text/duration.js";
import { shortenText } from "../../core/text/phrases.js";
import { describeProgress } from "../../core/text/research-progress.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { SILENT_WAIT_MS } from "../context.js";
import type { Terminal } from "../terminal/reporter.js";

interface ShownProgress {
  states: readonly (Status | null)[];
  elapsedMs: number;
  /** What the service says of the one id, if there is one. */
  progress?: unknown;
  /** How long runs usually take, in words, if that is known. */
  usual?: string | undefined;
  /** What is researched, where there is one and it is known. */
  question?: string | undefined;
}

/** The live line: for one id its state, for several how many are done and how many are in each other state. */
export function liveText({ states, elapsedMs, progress, usual, question = "" }: ShownProgress): string {
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

export function changeLine(requestId: string, status: Status, elapsedMs: number): string {
  return `${requestId} is ${escapeLine(status)} (${formatDuration(elapsedMs)})`;
}

export interface WatchLine extends Moment {
  requestId: string | null;
  status: Status | null;
  previous: Status | null;
  final: boolean;
  /** What the service says of it, if it does. */
  progress?: unknown;
}

export function watchJson({ requestId, status, previous, at, elapsedMs, final, progress }: WatchLine) {
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

/** What can be done about a request that goes on by itself no more, or that may not. */
export function describeStuck(event: { requestId: string; word: string; waitsForSomebody: boolean }): string {
  const { requestId, waitsForSomebody } = event;
  const word = escapeLine(event.word);
  // Most of the providers where a request waits for an answer cannot stop it.
  const what = waitsForSomebody
    ? `is waiting for your input (${word}): answer it at the provider`
    : `has been in the unknown state ${word} for ten minutes: look at the service's own page, or stop it with: research stop ${requestId}`;
  return `${requestId} ${what}. Polling goes on`;
}

/** What a notification says of requests whose wait is over: our words and an id, nothing of the service's. */
export function endText(outcomes: readonly Pick<WatchOutcome, "requestId" | "status">[]): string {
  const isOver = ({ status }: Pick<WatchOutcome, "status">) => status !== null && isFinal(status);
  const [first] = outcomes;
  if (outcomes.length !== 1 || !first)
    return `${outcomes.filter(isOver).length} of ${outcomes.length} requests have ended`;
  return `${first.requestId} ${isOver(first) ? `is ${first.status}` : "has not ended"}`;
}

/** How long requests usually take, and how long these took. */
export class TakenReport {
  /** How long runs usually take, in words; undefined if too few are known. */
  readonly usual: string | undefined;
  /** The requests that had ended when they were first seen, so that their end was not observed. */
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

  /** The last words of a wait in which all have ended; undefined for any other. `elapsedMs` is since the command began. */
  formatText(outcomes: readonly WatchOutcome[], elapsedMs: number): string | undefined {
    const [first, ...others] = outcomes;
    if (!first || outcomes.some(({ kind }) => kind !== "final")) return undefined;
    const aside = this.usual === undefined ? "" : ` (${this.usual})`;
    if (others.length > 0)
      return `all ${outcomes.length} had ended after ${formatDuration(elapsedMs)}${aside}`;
    const entry = this.targets.find(({ requestId }) => requestId === first.requestId)?.entry;
    const sinceStart = entry ? this.clock.now() - parseTime(entry) : Number.NaN;
    // A clock that was set back, or a request that this machine did not create.
    const isKnown = sinceStart >= elapsedMs;
    const atMost = this.#endedBefore.has(first.requestId) ? "at most " : "";
    if (atMost !== "" && !(isKnown && sinceStart >= TELLING_MS)) return undefined;
    return `${first.requestId} took ${atMost}${formatDuration(isKnown ? sinceStart : elapsedMs)}${aside}`;
  }
}

/** A shorter time says nothing of how long a research usually takes, or took at most, in milliseconds. */
const TELLING_MS = 5_000;
/** Fewer finished runs say nothing about the next one (contract §6). */
const LEAST_RUNS = 5;
/** What a service took long ago says little about today. */
const RUNS = 200;

/** How long the middle half of the finished runs of the origin in force took, as text; undefined for fewer than five. */
export function describeUsualLength({
  history,
  origin,
}: Pick<Account, "history" | "origin">): string | undefined {
  const sorted = (history?.listDurations(origin, RUNS) ?? []).sort((a, b) => a - b);
  if (sorted.length < LEAST_RUNS) return undefined;
  const formatAt = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  if (formatAt(0.75) < TELLING_MS) return undefined;
  const [from, to] = [formatDuration(formatAt(0.25)), formatDuration(formatAt(0.75))];
  return from === to ? `usually ${from}` : `usually ${from} to ${to}`;
}

/** Within a trouble, a wait is announced if it is longer than a watch is silent otherwise, in milliseconds. */
const LONG_WAIT_MS = 300_000;

type TroubleEvent = Extract<WatchEvent, { kind: "trouble" | "recovered" | "asked-to-wait" }>;

/** Says when polls begin to fail and when they succeed again, once each. */
export class TroubleReport {
  /** The error that the trouble of the moment, or the last one, began with. */
  #first: unknown;

  constructor(private readonly terminal: Terminal) {}

  async show(event: TroubleEvent): Promise<void> {
    switch (event.kind) {
      case "trouble":
        this.#first = event.error;
        return this.terminal.reporter.writeNotice(
          "TROUBLE",
          formatTrouble(event.error, this.terminal.host.clock.now()),
        );
      case "recovered": {
        const elapsed = formatDuration(event.elapsedMs);
        return this.terminal.reporter.writeNotice(
          "RECOVERED",
          `the service answers again, ${elapsed} into this watch`,
        );
      }
      case "asked-to-wait":
        // The line that began the trouble has said the first wait.
        if (event.error === this.#first || event.waitMs <= LONG_WAIT_MS) return;
        return this.terminal.reporter.writeNotice(
          "WAITING",
          `the service asked to wait ${addEnd(event.waitMs, this.terminal.host.clock.now())}`,
        );
    }
  }
}

/** The beginning of a trouble, with the wait that the service asks for. `now` is epoch milliseconds. */
function formatTrouble(error: ResearchError, now: number): string {
  const waitMs = limitPollWait((error.retryAfter ?? 0) * 1_000);
  const when = waitMs > SILENT_WAIT_MS ? ` in ${addEnd(waitMs, now)}` : "";
  return `${error.message.replace(/\.$/, "")}; polling goes on${when}`;
}

/** A wait in milliseconds, with its end. `now` is epoch milliseconds. */
export function addEnd(waitMs: number, now: number): string {
  return `${formatDuration(waitMs)} (until ${formatIsoDate(now + waitMs)})`;
}
