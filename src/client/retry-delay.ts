/** Tries at about 0, 0.5, 1.5 and 4 s: the waits between them, in milliseconds. */
const WAITS = [500, 1_000, 2_500] as const;
/** How many times something that may be repeated is tried in all. */
export const TRIES = WAITS.length + 1;
/** Each wait is spread by this share to either side, so that many clients do not come back as one. */
const JITTER = 0.2;
/** A longer `Retry-After` than this ends the tries: a command does not wait for hours. */
const PATIENCE_MS = 30_000;

/** The wait (ms) after `failures` failed tries, undefined if none is left. `retryAfter`: seconds; `random`: in [0, 1). */
export function retryDelay(
  failures: number,
  retryAfter: number | undefined,
  random: number,
): number | undefined {
  const wait = WAITS[failures - 1];
  if (wait === undefined) return undefined;
  const asked = (retryAfter ?? 0) * 1_000;
  if (asked > PATIENCE_MS) return undefined;
  return Math.max(asked, wait * (1 - JITTER + 2 * JITTER * random));
}

/** A `Retry-After` header, in either form, as whole seconds from `now` (epoch ms). Undefined if it makes no sense. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text)), MAX_SECONDS);
  // Only the date forms of RFC 9110 have letters: Date.parse takes "-5" for a year.
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return at > now ? Math.ceil((at - now) / 1_000) : undefined;
}

/** Reads an `openai-poll-after-ms` header: milliseconds before the next poll; 0 if it makes no sense. */
export function readPollAfter(value: string | undefined): number {
  return /^\d{1,9}$/.test(value ?? "") ? Number(value) : 0;
}

/** About 285 years: added to any date, the sum is still one. */
const MAX_SECONDS = 9_000_000_000;
