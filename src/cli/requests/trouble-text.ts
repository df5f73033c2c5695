import type { ResearchError } from "../../client/errors.js";
import { SILENT_WAIT_MS } from "../context.js";
import { formatDuration } from "../terminal/durations.js";

/** The beginning of a trouble, with the wait that the service asks for. `now` is epoch milliseconds. */
export function troubleLine(error: ResearchError, now: number): string {
  const waitMs = (error.retryAfter ?? 0) * 1_000;
  const when = waitMs > SILENT_WAIT_MS ? ` in ${withEnd(waitMs, now)}` : "";
  return `${error.message}; polling goes on${when}`;
}

/** A wait that the service asks for. */
export function waitLine(waitMs: number, now: number): string {
  return `the service asked to wait ${withEnd(waitMs, now)}`;
}

function withEnd(waitMs: number, now: number): string {
  const until = new Date(now + waitMs);
  const end = Number.isNaN(until.getTime()) ? "beyond all dates" : until.toISOString();
  return `${formatDuration(waitMs)} (until ${end})`;
}
