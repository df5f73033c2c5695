import type { Outcome } from "../endpoint/outcome.js";

type Failure = Extract<Outcome, { kind: "busy" | "cut" | "unreachable" }>;

/** How often a request is sent at most, by what became of it. */
const MAX_TRIES = { busy: 6, cut: 3, unreachable: 3 } as const;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * How long to wait before the next try, in ms, after `failures` failed ones (from 1); undefined if there is to be
 * none. The endpoint's own `Retry-After` is never shortened.
 */
export function retryDelay(failure: Failure, failures: number): number | undefined {
  if (failures >= MAX_TRIES[failure.kind]) return undefined;
  const backoff = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
  return failure.kind === "busy" ? Math.max(failure.afterMs ?? backoff, 0) : backoff;
}
