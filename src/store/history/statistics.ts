import type { AppendLog } from "./append-log.js";
import type { OpenIntent } from "./open-intents.js";
import { keyId, RESOLVED } from "./records.js";

/** How long the last finished runs of an origin took, in milliseconds, the newest first. */
export function durations(log: AppendLog, origin: string, limit: number): number[] {
  const found: number[] = [];
  for (const line of log.lines('"duration_ms":')) {
    if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
    // A clock that was set back in between.
    if (line.duration_ms < 0) continue;
    found.push(line.duration_ms);
    if (found.length >= limit) break;
  }
  return found;
}

/** The lines that are looked at after one that is too old: a clock that was set back for a while hides no others. */
const OLD_LINES = 1_000;

/** An attempt to create: when it counts (epoch ms), and whether its line is dated ahead of the clock. */
export interface CountedAttempt {
  localId: string;
  at: number;
  isAhead: boolean;
}

/**
 * The creates that `origin` was asked for with this key since `since` (epoch ms): those that were made, those that
 * were refused, and those with an unknown outcome. One that is dated after `now` counts as of now.
 */
export function attempts(
  log: AppendLog,
  open: readonly OpenIntent[],
  { origin, apiKey, since, now }: { origin: string; apiKey: string; since: number; now: number },
): CountedAttempt[] {
  const id = keyId(apiKey);
  const found = new Map<string, CountedAttempt>();
  const count = (entry: { origin: string; key_id: string; local_id: string }, date: string) => {
    const at = Date.parse(date);
    if (entry.origin !== origin || entry.key_id !== id || Number.isNaN(at)) return;
    // A line may have been dated again while the clock was set back: the latest date that is not ahead holds.
    const known = found.get(entry.local_id);
    if (known && !known.isAhead && (at > now || at <= known.at)) return;
    found.set(entry.local_id, { localId: entry.local_id, at: Math.min(at, now), isAhead: at > now });
  };
  const neverMade = new Set<string>();
  let old = 0;
  for (const line of log.lines()) {
    old = Date.parse(line.at) < since ? old + 1 : 0;
    if (old > OLD_LINES) break;
    // What was settled as never made did not count; the line says when it was settled.
    if (line.kind === "not-created" || (line.kind === "dismissed" && line.code === RESOLVED))
      neverMade.add(line.local_id);
    else if (line.kind !== "status" && !neverMade.has(line.local_id)) count(line, line.at);
  }
  for (const { intent, outcome } of open) count(intent, outcome?.at ?? intent.sent_at);
  return [...found.values()].filter(({ at }) => at >= since);
}
