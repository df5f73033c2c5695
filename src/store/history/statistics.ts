import type { Log } from "./append-log.js";
import type { OpenIntent } from "./open-intents.js";
import { keyId, RESOLVED } from "./records.js";

/** How long the last finished runs of an origin took, in milliseconds, the newest first. */
export function durations(log: Log, origin: string, limit: number): number[] {
  const found: number[] = [];
  for (const line of log.lines('"duration_ms":')) {
    if (line.kind !== "status" || line.origin !== origin || line.duration_ms === undefined) continue;
    found.push(line.duration_ms);
    if (found.length >= limit) break;
  }
  return found;
}

/**
 * When (epoch ms) `origin` was asked with this key for creates since `since`: those that were made, those that
 * were turned down, and those nobody knows of.
 */
export function attempts(
  log: Log,
  open: readonly OpenIntent[],
  { origin, apiKey, since }: { origin: string; apiKey: string; since: number },
): number[] {
  const id = keyId(apiKey);
  const counts = (entry: { origin: string; key_id: string }) =>
    entry.origin === origin && entry.key_id === id;
  const times = new Map<string, number>();
  for (const { intent, outcome } of open) {
    if (counts(intent)) times.set(intent.local_id, Date.parse(outcome?.at ?? intent.sent_at));
  }
  for (const line of log.lines()) {
    if (Date.parse(line.at) < since) break;
    // What was settled as never made did not count; the line says when it was settled.
    if (line.kind === "dismissed" && line.code === RESOLVED) continue;
    if (line.kind !== "status" && counts(line)) times.set(line.local_id, Date.parse(line.at));
  }
  return [...times.values()].filter((at) => at >= since);
}
