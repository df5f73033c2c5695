import type { ConnectionFault } from "../../core/http/exchange.js";

/** Everything that can go wrong between a request and a readable answer, by what may follow from it. */
export type FaultName = keyof typeof FAULTS;

/**
 * What each operation does about a fault.
 * - `create`: `retry` only where the request provably never left; `unknown` where it may have been carried out.
 * - `stop`: `ask` looks at the state instead of guessing; `ask-retry` stops again if that still runs.
 * - `read`: status and output, which change nothing.
 * - `watch`: `keep` polling; `first` and `answered` end it on the very first poll, or until the service has
 *   answered this command once: what never worked is a wrong setting, what worked a minute ago is an outage.
 */
interface Handling {
  create: "retry" | "unknown" | "fail";
  stop: "retry" | "ask-retry" | "ask" | "fail";
  read: "retry" | "fail";
  watch: "keep" | "first" | "answered";
}

export const FAULTS = {
  /** Refused, no route, a name that could not be looked up just now, lost before the headers were written. */
  unreachable: { create: "retry", stop: "retry", read: "retry", watch: "keep" },
  /** A name that does not exist, a certificate that does not hold, a proxy that says no. */
  unconnectable: { create: "fail", stop: "fail", read: "fail", watch: "first" },
  /** The connection ended after the headers were written and before an answer. */
  lost: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** Sent, and not a byte of an answer within the limit. */
  timeout: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** An answer that broke off, dripped past the limit, or is no HTTP. */
  torn: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** A whole answer that is not an envelope, or an envelope without what it must hold. */
  unreadable: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** More bytes or deeper nesting than anything the service has to say. */
  oversized: { create: "unknown", stop: "ask", read: "fail", watch: "keep" },
  /** 5xx. The service documents none (§7), so something in between, or a defect, said it. */
  unavailable: { create: "unknown", stop: "ask-retry", read: "retry", watch: "keep" },
  /** A 4xx after which a create may have been carried out all the same, see `AMBIGUOUS_STATUSES`. */
  ambiguous: { create: "unknown", stop: "ask", read: "retry", watch: "keep" },
  /** Any other 4xx without an envelope: something in between refused the request. */
  stray: { create: "fail", stop: "ask", read: "retry", watch: "answered" },
  /** 3xx, never followed: the key would go along. */
  redirected: { create: "fail", stop: "fail", read: "fail", watch: "answered" },
  /** 303: it was carried out, and the answer is elsewhere. */
  "see-other": { create: "unknown", stop: "fail", read: "fail", watch: "answered" },
  /** 405 on an operation whose method the interface does not show. */
  "wrong-method": { create: "unknown", stop: "ask", read: "fail", watch: "answered" },
  /** The answer is about another request than the one asked for. */
  "wrong-request": { create: "unknown", stop: "fail", read: "fail", watch: "keep" },
} as const satisfies Record<string, Handling> & Record<ConnectionFault, Handling>;

/** Carried out or not: 408 (the body came after all), 409 (it exists), 425 (replayed), 499 (the caller was gone). */
export const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 499]);
/** Misdirected to another server (RFC 9110 §15.5.20): ambiguous unless the service itself says it. */
export const MISDIRECTED_STATUS = 421;

/** What a service says of a request may lag behind its create by this long, in milliseconds. */
export const NEW_REQUEST_MS = 60_000;

/** Tries at about 0, 0.5, 1.5 and 4 s: the waits between them, in milliseconds. */
const WAITS = [500, 1_000, 2_500] as const;
/** How many times something that may be repeated is tried in all. */
export const TRIES = WAITS.length + 1;
/** Each wait is spread by this share to either side, so that many clients do not come back as one. */
const JITTER = 0.2;
/** A longer `Retry-After` than this ends the tries: a command does not wait for hours. */
const PATIENCE_MS = 30_000;

/** A poll that is told to wait for longer is made after 15 minutes all the same: a time that is wrong would hide the end. */
const LONGEST_POLL_WAIT_MS = 900_000;

/** Returns the wait before a poll, in milliseconds, of which `askedMs` is what the service asks for. */
export function limitPollWait(askedMs: number): number {
  return Math.min(askedMs, LONGEST_POLL_WAIT_MS);
}

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
