import { timeOf } from "../../store/history/records.js";
import { formatDuration } from "../../text/duration.js";
import type { FollowEvent } from "../../workflows/follow.js";
import type { Ports } from "../../workflows/ports.js";
import type { Outcome } from "../../workflows/progress.js";
import type { NamedTarget } from "../../workflows/targets.js";

/** How long requests usually take, and how long these took. */
export class TakenReport {
  /** How long runs usually take, in words; undefined if too few are known. */
  readonly usual: string | undefined;
  readonly #ports: Pick<Ports, "clock">;
  readonly #targets: readonly NamedTarget[];
  /** The requests that had ended when they were first seen, so that their end was not observed. */
  readonly #endedBefore = new Set<string>();

  constructor(ports: Pick<Ports, "clock" | "history" | "origin">, targets: readonly NamedTarget[]) {
    this.usual = usualLength(ports);
    this.#ports = ports;
    this.#targets = targets;
  }

  apply(event: FollowEvent): void {
    if (event.kind === "state" && event.final && event.previous === null)
      this.#endedBefore.add(event.requestId);
  }

  /** The last words of a wait in which all have ended; undefined for any other. `elapsedMs` is since the command began. */
  text(outcomes: readonly Outcome[], elapsedMs: number): string | undefined {
    const [first, ...others] = outcomes;
    if (!first || outcomes.some(({ kind }) => kind !== "final")) return undefined;
    const aside = this.usual === undefined ? "" : ` (${this.usual})`;
    if (others.length > 0)
      return `all ${outcomes.length} had ended after ${formatDuration(elapsedMs)}${aside}`;
    const entry = this.#targets.find(({ requestId }) => requestId === first.requestId)?.entry;
    const sinceStart = entry ? this.#ports.clock.now() - timeOf(entry) : Number.NaN;
    // A clock that was set back, or a request that this machine did not create.
    const isKnown = sinceStart >= elapsedMs;
    const atMost = this.#endedBefore.has(first.requestId) ? "at most " : "";
    if (atMost !== "" && !isKnown) return undefined;
    return `${first.requestId} took ${atMost}${formatDuration(isKnown ? sinceStart : elapsedMs)}${aside}`;
  }
}

/** Fewer finished runs say nothing about the next one (contract §6). */
const LEAST_RUNS = 5;
/** What a service took long ago says little about today. */
const RUNS = 200;

/** How long the middle half of the finished runs took, as text; undefined for fewer than five. Milliseconds. */
export function usualText(durations: readonly number[]): string | undefined {
  if (durations.length < LEAST_RUNS) return undefined;
  const sorted = [...durations].sort((a, b) => a - b);
  const at = (share: number) => formatDuration(sorted[Math.round(share * (sorted.length - 1))] ?? 0);
  const [from, to] = [at(0.25), at(0.75)];
  return from === to ? `usually ${from}` : `usually ${from} to ${to}`;
}

/** The same for the origin in force. A history that cannot be read knows none. */
export function usualLength({ history, origin }: Pick<Ports, "history" | "origin">): string | undefined {
  try {
    return usualText(history?.durations(origin, RUNS) ?? []);
  } catch {
    return undefined;
  }
}
