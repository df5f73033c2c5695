import { findNextAllowedTime, WINDOW_MS } from "../../../core/protocol/rate-limits.js";
import type { AppendLog } from "./append-log.js";
import { RESOLVED } from "./history-records.js";
import type { OpenIntent } from "./open-intents.js";

/** How much longer (ms) an attempt counts, because the service may count whole seconds (§8) and use another clock. */
export const MARGIN_MS = 1_000;

/** The create calls of one key at one origin that count towards the limit of a window (an hour or a day). */
export interface WindowUsage {
  /** The time (epoch ms) of each create call that still counts, earliest first. */
  attempts: number[];
  /** The time (epoch ms) from which the next create call may be sent; now if it may be sent at once. */
  nextAt: number;
}

export function computeWindowUsage(
  counted: readonly CountedAttempt[],
  limit: number,
  now: number,
  windowMs = WINDOW_MS,
): WindowUsage {
  const attempts = counted.map(({ at }) => at).sort((a, b) => a - b);
  return { attempts, nextAt: findNextAllowedTime(attempts, limit, now - MARGIN_MS, windowMs) + MARGIN_MS };
}

/** Number of old lines in a row after which counting ends. One is not enough: if the clock was set back, newer lines may follow. */
const OLD_LINES = 1_000;

/** Which create calls to count: the key and the time window (epoch ms). `isMade`: whether refused create calls are excluded. */
export interface CountedKey {
  origin: string;
  key_id: string;
  since: number;
  now: number;
  isMade: boolean;
}

/** An attempt to create and the time from which it counts (epoch ms). `isAhead`: whether its own date is in the future and no line records that yet. */
export interface CountedAttempt {
  localId: string;
  at: number;
  isAhead: boolean;
}

/**
 * Lists the attempts to create at `origin` with this key since `since` (epoch ms): successful ones, refused ones unless
 * `isMade`, and those with an unknown outcome. An attempt dated after `now` counts from the time in its `redated` line,
 * or from now if it has no such line.
 */
export function listCountedAttempts(
  log: AppendLog,
  open: readonly OpenIntent[],
  { origin, key_id: id, since, now, isMade }: CountedKey,
): CountedAttempt[] {
  const listed = new Map<string, CountedAttempt>();
  const redated = new Map<string, number>();
  const count = (entry: { origin: string; key_id: string; local_id: string }, date: string) => {
    const at = Date.parse(date);
    if (entry.origin !== origin || entry.key_id !== id || Number.isNaN(at)) return;
    const noticedAt = at > now ? redated.get(entry.local_id) : undefined;
    const isAhead = at > now && noticedAt === undefined;
    listed.set(entry.local_id, { localId: entry.local_id, at: Math.min(noticedAt ?? at, now), isAhead });
  };
  const neverMade = new Set<string>();
  let [old, nameless] = [0, 0];
  for (const line of log.readLines()) {
    old = Date.parse(line.at) < since ? old + 1 : 0;
    if (old > OLD_LINES) break;
    // A dismissed create call did not count; the line has the time of the dismissal.
    if (line.kind === "not-created" || (line.kind === "dismissed" && (isMade || line.code === RESOLVED)))
      neverMade.add(line.local_id);
    else if (line.kind === "redated") redated.set(line.local_id, Date.parse(line.at) || now);
    else if (line.kind === "forgotten") count({ ...line, local_id: `forgotten-${++nameless}` }, line.at);
    else if (line.kind !== "status" && !neverMade.has(line.local_id)) count(line, line.at);
  }
  for (const { intent, outcome } of open) count(intent, outcome?.at ?? intent.sent_at);
  return [...listed.values()].filter(({ at }) => at >= since);
}
