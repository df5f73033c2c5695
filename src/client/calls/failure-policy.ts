import type { ConnectionFault } from "../../core/http/send-request.js";

/** The name of a fault that leaves a request without a readable answer. */
export type FaultName = keyof typeof FAULTS;

/**
 * What each operation does about a fault.
 * - `create`: `retry` only if the request was provably not sent; `unknown` if the service may have carried it out.
 * - `stop`: `ask` reads the state; `ask-retry` reads it and stops again if the request still runs.
 * - `read`: status and output, which change nothing.
 * - `watch`: `keep` polls on; `first` ends the watch if its first poll fails; `answered` ends it unless the service has
 *   answered this command before: if it never has, a setting is wrong; if it has, this is an outage.
 */
interface FaultHandling {
  create: "retry" | "unknown" | "fail";
  stop: "retry" | "ask-retry" | "ask" | "fail";
  read: "retry" | "fail";
  watch: "keep" | "first" | "answered";
}

export const FAULTS = {
  /** Connection refused, no route, a temporary failure of DNS, or connection lost before the headers were written. */
  unreachable: { create: "retry", stop: "retry", read: "retry", watch: "keep" },
  /** The host name does not exist, the certificate is invalid, or a proxy refuses the connection. */
  unconnectable: { create: "fail", stop: "fail", read: "fail", watch: "first" },
  /** The connection ended after the headers were written and before an answer. */
  lost: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** The request was sent, and not a byte of an answer came within the limit. */
  timeout: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** The answer broke off, took too long, or is not HTTP. */
  torn: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** The answer is complete but not an envelope, or an envelope without a required field. */
  unreadable: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** The answer is larger or nested more deeply than any valid answer. */
  oversized: { create: "unknown", stop: "ask", read: "fail", watch: "keep" },
  /** 5xx. The service documents no such status (§7), so an intermediary or a defect caused it. */
  unavailable: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** A 4xx that leaves open whether a create call was carried out, see `AMBIGUOUS_STATUSES`. */
  ambiguous: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** Any other 4xx without an envelope: an intermediary refused the request. */
  stray: { create: "fail", stop: "ask", read: "retry", watch: "answered" },
  /** 3xx. Redirects are never followed, because the key would go to another address. */
  redirected: { create: "fail", stop: "fail", read: "fail", watch: "answered" },
  /** 303: the request was carried out, and the answer is at another address. */
  "see-other": { create: "unknown", stop: "fail", read: "fail", watch: "answered" },
  /** 405 for an operation whose method the interface does not document. */
  "wrong-method": { create: "unknown", stop: "ask", read: "fail", watch: "answered" },
  /** The answer is about a different request. */
  "wrong-request": { create: "unknown", stop: "fail", read: "fail", watch: "keep" },
} as const satisfies Record<string, FaultHandling> & Record<ConnectionFault, FaultHandling>;

/** HTTP statuses that leave open what the request did: 408 (body came late), 409 (exists), 425 (may be a replay), 499 (client left). */
export const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 499]);
/** HTTP 421: the request reached the wrong server (RFC 9110 §15.5.20). The outcome is unknown unless the service itself sent the answer. */
export const MISDIRECTED_STATUS = 421;

/** How long a provider may answer 404 for a request after its create call, in milliseconds. */
export const NEW_REQUEST_MS = 60_000;

/** Waits between attempts, in milliseconds: the attempts start at about 0, 0.5, 1.5 and 4 s. */
const WAITS = [500, 1_000, 2_500] as const;
/** Number of attempts of a request that may be repeated, including the first. */
export const TRIES = WAITS.length + 1;
/** The share by which each wait varies to either side, so that many clients do not retry at the same time. */
const JITTER = 0.2;
/** The longest `Retry-After` (ms) that allows a retry, because a command should not wait for hours. */
const PATIENCE_MS = 30_000;

/** Maximum wait before a poll, in ms, even if the service asks for more, because a wrong value would hide the end of the request. */
const LONGEST_POLL_WAIT_MS = 900_000;

/** Limits the milliseconds that the service asks to wait before a poll. */
export function capPollWait(askedMs: number): number {
  return Math.min(askedMs, LONGEST_POLL_WAIT_MS);
}

/** Returns the wait (ms) after `failures` failed attempts; undefined if no attempt is left. `retryAfter`: seconds; `random`: in [0, 1). */
export function computeRetryDelay(
  failures: number,
  retryAfter: number | undefined,
  random: number,
): number | undefined {
  const wait = WAITS[failures - 1];
  if (wait === undefined) return undefined;
  const askedMs = (retryAfter ?? 0) * 1_000;
  if (askedMs > PATIENCE_MS) return undefined;
  return Math.max(askedMs, wait * (1 - JITTER + 2 * JITTER * random));
}
