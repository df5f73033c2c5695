import { formatDuration } from "../../../text/duration.js";
import type { Ports } from "../../../workflows/ports.js";

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
