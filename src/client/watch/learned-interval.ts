import { LONGEST_MS, within } from "./poll-interval.js";
import type { PollInterval } from "./types.js";

/** Fewer finished runs than this say too little about the next one. */
export const ENOUGH_RUNS = 30;

/**
 * What a poll costs against a late answer, found by simulation (`bench/polling.js`): with it the runs measured
 * there take no more polls than a twentieth of the age does, and are seen earlier.
 */
const POLL_COST = 0.025;

/**
 * The poll interval for runs that take about as long as those known (milliseconds each), or undefined if fewer than
 * ENOUGH_RUNS are known. It polls often when a run is likely to end and seldom when not.
 *
 * A poll's wait `w` at age `t` makes an end at `t` be seen about `w/2t` of the run too late, and costs one poll
 * for each run that is still under way. The least of both together is at `w` proportional to the square root of
 * `t / h(t)`, where `h` is the hazard rate: the rate at which runs of that age end. For log-normal lengths, which
 * fit what people wait for, `t / h(t)` is `sigma * t^2` times Mills' ratio.
 */
export function learnedInterval(durationsMs: readonly number[]): PollInterval | undefined {
  const logs = durationsMs.filter((duration) => duration > 0).map(Math.log);
  if (logs.length < ENOUGH_RUNS) return undefined;
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  // Runs that all took the same time would make a rate that is all or nothing.
  const sigma = Math.max(Math.sqrt(variance), 0.05);
  const waitAt = (ageMs: number) =>
    POLL_COST * ageMs * Math.sqrt(sigma * millsRatio((Math.log(ageMs) - mean) / sigma));
  return (ageMs, random) => within(untilDue(ageMs, waitAt), random);
}

/** How finely a wait is made up of what each moment of it would ask for, in milliseconds. */
const STEP_MS = 250;

/**
 * Milliseconds until a poll is due when each moment brings it nearer by its share of the wait that is right for
 * that moment: what the rate is now says little about half a minute that begins now.
 */
function untilDue(ageMs: number, waitAt: (ageMs: number) => number): number {
  let wait = 0;
  for (let due = 0; due < 1 && wait < LONGEST_MS; wait += STEP_MS)
    due += STEP_MS / waitAt(ageMs + wait + STEP_MS / 2);
  return wait;
}

/**
 * (1 - Φ(z)) / φ(z) of the standard normal distribution; Infinity far to the left. The polynomial is the
 * complementary error function of Numerical Recipes (erfcc, relative error below 1.2e-7), its exponential left
 * out where it would cancel.
 */
function millsRatio(z: number): number {
  if (z < 0) return Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2) - millsRatio(-z);
  const t = 1 / (1 + z / Math.SQRT2 / 2);
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
    -0.82215223, 0.17087277,
  ];
  const exponent = terms.reduceRight((sum, term) => sum * t + term, 0);
  return Math.sqrt(Math.PI / 2) * t * Math.exp(exponent);
}
