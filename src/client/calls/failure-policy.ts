import type { ConnectionFault } from "../../core/http/exchange.js";

/** The faults between a request and a readable answer, divided by what the operations do about them. */
export type FaultName = keyof typeof FAULTS;

/**
 * What each operation does about a fault.
 * - `create`: `retry` only if the request was provably not sent; `unknown` if the service may have carried it out.
 * - `stop`: `ask` reads the state; `ask-retry` reads it and stops again if the request still runs.
 * - `read`: status and output, which change nothing.
 * - `watch`: `keep` polling; `first` ends the watch on its first poll, `answered` until the service has answered this
 *   command once: a service that never answered means a wrong setting, one that did means an outage.
 */
interface Handling {
  create: "retry" | "unknown" | "fail";
  stop: "retry" | "ask-retry" | "ask" | "fail";
  read: "retry" | "fail";
  watch: "keep" | "first" | "answered";
}

export const FAULTS = {
  /** Connection refused, no route, a temporary failure of DNS, or connection lost before the headers were written. */
  unreachable: { create: "retry", stop: "retry", read: "retry", watch: "keep" },
  /** A name that does not exist, an invalid certificate, or a proxy that refuses. */
  unconnectable: { create: "fail", stop: "fail", read: "fail", watch: "first" },
  /** The connection ended after the headers were written and before an answer. */
  lost: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** The request was sent, and not a byte of an answer came within the limit. */
  timeout: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** An answer that broke off, took too long, or is not HTTP. */
  torn: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** A complete answer that is not an envelope, or an envelope without a required field. */
  unreadable: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** An answer with more bytes or deeper nesting than any valid one. */
  oversized: { create: "unknown", stop: "ask", read: "fail", watch: "keep" },
  /** 5xx. The service documents none (§7), so it comes from an intermediary or a defect. */
  unavailable: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** A 4xx after which a create may have been carried out, see `AMBIGUOUS_STATUSES`. */
  ambiguous: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** Any other 4xx without an envelope: an intermediary refused the request. */
  stray: { create: "fail", stop: "ask", read: "retry", watch: "answered" },
  /** 3xx. Never followed, because the key would go to another address. */
  redirected: { create: "fail", stop: "fail", read: "fail", watch: "answered" },
  /** 303: the request was carried out, and the answer is at another address. */
  "see-other": { create: "unknown", stop: "fail", read: "fail", watch: "answered" },
  /** 405 for an operation whose method the interface does not document. */
  "wrong-method": { create: "unknown", stop: "ask", read: "fail", watch: "answered" },
  /** The answer is about a different request. */
  "wrong-request": { create: "unknown", stop: "fail", read: "fail", watch: "keep" },
} as const satisfies Record<string, Handling> & Record<ConnectionFault, Handling>;

/** Statuses of a request that may have been carried out: 408 (the body came late), 409 (it exists), 425 (replayed), 499 (the caller left). */
export const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 499]);
/** The request reached the wrong server (RFC 9110 §15.5.20): ambiguous unless the service itself answers so. */
export const MISDIRECTED_STATUS = 421;

/** How long after a create a provider may still answer 404, in milliseconds. */
export const NEW_REQUEST_MS = 60_000;

/** The waits between tries, in milliseconds: the tries come at about 0, 0.5, 1.5 and 4 s. */
const WAITS = [500, 1_000, 2_500] as const;
/** How often to try a request that may be repeated, the first time included. */
export const TRIES = WAITS.length + 1;
/** The share by which each wait varies to either side, so that many clients do not retry at the same time. */
const JITTER = 0.2;
/** A longer `Retry-After` (ms) ends the retries: a command does not wait for hours. */
const PATIENCE_MS = 30_000;

/** The longest wait before a poll, in milliseconds, even if the service asks for more: a wrong time would hide the end. */
const LONGEST_POLL_WAIT_MS = 900_000;

/** Limits the wait before a poll that the service asks for; milliseconds. */
export function limitPollWait(askedMs: number): number {
  return Math.min(askedMs, LONGEST_POLL_WAIT_MS);
}

/** Returns the wait (ms) after `failures` failed tries; undefined if no try is left. `retryAfter`: seconds; `random`: in [0, 1). */
export function retryDelay(
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
