import { join } from "node:path";
import { lockWithin } from "../../lock.js";
import { nextSlot, WINDOW_MS } from "../../protocol/limits.js";
import { localError, makeFolder } from "../files.js";
import type { CountedAttempt, History, RecordedCreate } from "./history.js";
import type { Attempt } from "./log.js";

/** Counting an hour and writing one intent takes milliseconds; a holder of this many is stuck. */
const LOCK_WAIT_MS = 10_000;

/** An attempt counts so much longer (ms): the service may count whole seconds (§8), by another clock. */
const MARGIN_MS = 1_000;

const UNCOUNTED = "the creates of this hour could not be counted";

/** Where one key stands in the hour at one origin. */
export interface HourlyUsage {
  /** When (epoch ms) each create that still counts was made, the earliest first. */
  attempts: number[];
  /** When (epoch ms) the next create may be sent; the time asked about, if that is at once. */
  nextAt: number;
}

/** The hour as this machine's own records have it. `limit` is creates an hour, `now` epoch ms. */
export function hourlyUsage(
  history: History,
  { origin, apiKey }: Pick<Attempt, "origin" | "apiKey">,
  limit: number,
  now: number,
): HourlyUsage {
  return hourOf(counted(history, { origin, apiKey }, now), limit, now);
}

/**
 * Begins a create if fewer than `limit` count. To count and to write the intent is one step among all processes
 * of this machine, so that no two of them take the same slot. Throws LocalError, or `signal.reason` if that is
 * aborted while another process counts.
 */
export async function reserve(
  history: History,
  folder: string,
  attempt: Attempt,
  limit: number,
  now: () => number,
  signal?: AbortSignal,
): Promise<{ pending: RecordedCreate } | { fullUntil: number }> {
  const release = await acquire(folder, signal);
  try {
    const found = counted(history, attempt, now());
    // Counted as of now each time, they would fill the hour until the clock is where it was.
    for (const { localId, isAhead } of found) if (isAhead) history.redate(localId, attempt);
    const { nextAt } = hourOf(found, limit, now());
    return nextAt > now() ? { fullUntil: nextAt } : { pending: history.begin(attempt) };
  } catch (error) {
    throw localError(UNCOUNTED, error);
  } finally {
    release();
  }
}

function counted(
  history: History,
  { origin, apiKey }: Pick<Attempt, "origin" | "apiKey">,
  now: number,
): CountedAttempt[] {
  return history.attempts(origin, apiKey, now - WINDOW_MS - MARGIN_MS + 1);
}

function hourOf(found: readonly CountedAttempt[], limit: number, now: number): HourlyUsage {
  const attempts = found.map(({ at }) => at).sort((a, b) => a - b);
  return { attempts, nextAt: nextSlot(attempts, limit, now - MARGIN_MS) + MARGIN_MS };
}

async function acquire(folder: string, signal: AbortSignal | undefined): Promise<() => void> {
  try {
    makeFolder(folder);
    return await lockWithin(join(folder, "hour.lock"), LOCK_WAIT_MS, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw localError(UNCOUNTED, error);
  }
}
