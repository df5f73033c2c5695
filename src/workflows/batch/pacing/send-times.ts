import { nextSlot } from "../../../protocol/limits.js";

/** The creates of the last hour, epoch milliseconds, and how many are allowed in an hour. */
export interface HourlyUse {
  /** Of all processes and machines that are known. */
  attempts: readonly number[];
  limit: number;
  /** Of this batch alone, and its share of the limit. */
  own: readonly number[];
  share: number;
}

/**
 * When (epoch ms) each of `count` creates may be sent, the first at `now` or later: fewer than `limit` of all
 * attempts in any hour, and fewer than `share` of this batch's own.
 */
export function sendTimes(count: number, { attempts, limit, own, share }: HourlyUse, now: number): number[] {
  const windows = [
    { times: ascending(attempts), limit },
    { times: ascending(own), limit: share },
  ].filter((window) => window.limit !== Number.POSITIVE_INFINITY);
  const sent: number[] = [];
  for (let at = now; sent.length < count; sent.push(at)) {
    for (const window of windows) {
      at = Math.max(at, nextSlot(window.times.slice(-window.limit), window.limit, at));
    }
    for (const { times } of windows) times.push(at);
  }
  return sent;
}

function ascending(times: readonly number[]): number[] {
  return [...times].sort((a, b) => a - b);
}
