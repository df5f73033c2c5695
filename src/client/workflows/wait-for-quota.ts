import { DAY_MS, filterAttemptsInWindow, findNextAllowedTime } from "../../core/protocol/rate-limits.js";
import { RefusedError } from "../calls/errors.js";
import type { CallOptions } from "../calls/research-client.js";
import type { Account } from "./account.js";
import { QuotaExceededError } from "./errors.js";

/** Minimum wait after a 429 without `Retry-After`, in milliseconds. */
const LEAST_WAIT_MS = 60_000;
/** Minimum wait after any refusal, in milliseconds, because a `Retry-After` of 0 would cause a busy loop. */
const LEAST_RETRY_MS = 1_000;
/** The second guessed wait for a limit of unknown length, in milliseconds. Each further one is GUESS_FACTOR times as long, up to LEAST_WAIT_MS. */
const SECOND_GUESS_MS = 15_000;
const GUESS_FACTOR = 5;

/**
 * Returns until when (epoch ms) to wait after a create call was refused because of a limit: as long as a 429 says, or
 * until the oldest of `attempts` no longer counts. Undefined for another error, and for a wait of more than a day.
 * `guesses`: how many waits in a row were guessed before, because the service does not say how long its limit lasts.
 */
export function findBlockedUntil(
  error: unknown,
  attempts: () => readonly number[],
  limit: number | undefined,
  now: number,
  guesses = 0,
): number | undefined {
  if (error instanceof QuotaExceededError) return error.until;
  if (!(error instanceof RefusedError) || error.kind !== "rate-limited") return undefined;
  if (error.retryAfter !== undefined) {
    const guessMs =
      guesses === 0 ? 0 : Math.min(SECOND_GUESS_MS * GUESS_FACTOR ** (guesses - 1), LEAST_WAIT_MS);
    const waitMs = Math.max(error.retryAfter * 1_000, LEAST_RETRY_MS, guessMs);
    return waitMs > DAY_MS ? undefined : now + waitMs;
  }
  // The service's real limit is the number of create calls that it has counted, whatever limit is configured.
  const counted = filterAttemptsInWindow(attempts(), now);
  const used = counted.length;
  const full = Math.max(1, Math.min(limit ?? used, used));
  return Math.max(findNextAllowedTime(counted, full, now), now + LEAST_WAIT_MS);
}

/** Waits until `until` by the wall clock (epoch ms). If that clock is set back meanwhile, the wait does not get longer. */
export async function waitUntilWallTime(
  { clock }: Account,
  until: number,
  { signal }: CallOptions,
): Promise<void> {
  const end = clock.monotonic() + until - clock.now();
  const measureLeft = () => Math.min(until - clock.now(), end - clock.monotonic());
  for (let ms = measureLeft(); ms > 0; ms = measureLeft()) await clock.sleep(Math.ceil(ms), signal);
}
