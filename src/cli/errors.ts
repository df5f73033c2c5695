import { ResearchError } from "../client/errors.js";
import type { Signal } from "./terminal/host.js";

export interface Facts {
  httpStatus?: number | undefined;
  hint?: string | undefined;
  requestId?: string | undefined;
  localId?: string | undefined;
  retryAfter?: number | undefined;
}

/** The error codes that are ours, each with its exit code. */
export const EXIT_CODES = {
  INTERNAL: 1,
  USAGE: 2,
  NOT_CONFIGURED: 2,
  RESEARCH_FAILED: 3,
  NOT_AUTHENTICATED: 4,
  NOT_FOUND: 5,
  NOT_ALLOWED: 6,
  NO_CREDIT: 6,
  RATE_LIMITED: 7,
  NOT_FINISHED: 8,
  TIMEOUT: 8,
  UNREACHABLE: 9,
  BAD_RESPONSE: 9,
  RESEARCH_STOPPED: 10,
  OUTCOME_UNKNOWN: 11,
  LOCAL_IO: 12,
  SCHEMA_MISMATCH: 13,
} as const;

export type OurCode = keyof typeof EXIT_CODES;

/** Whether an error code is one of ours (contract §1.4) and not the service's. */
export function isOurs(code: string): boolean {
  return code in EXIT_CODES || code === "INTERRUPTED";
}

/** An error of the command line's own: what is wrong and, as the hint, what to do. */
export class CliError extends Error {
  readonly code: OurCode;
  readonly facts: Facts;

  constructor(code: OurCode, message: string, facts: Facts = {}) {
    super(message);
    this.code = code;
    this.facts = facts;
  }
}

/** Bad input, found before anything was sent. */
export class UsageError extends CliError {
  constructor(message: string, hint?: string) {
    super("USAGE", message, { hint });
  }
}

/** A signal came. `resume` says how to go on where this command ended, `requestId` names its request if it is one. */
export class Interrupted extends Error {
  readonly signal: Signal;
  resume: string | undefined;
  requestId: string | undefined;

  constructor(signal: Signal) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

/**
 * The request exists, and this command could not see it to its end or fetch its result. Contract §1.5: that is exit
 * code 8 whatever the reason, since a script that sees another one would create the request again.
 */
export class UnfinishedError extends Error {
  override readonly cause: ResearchError;
  readonly requestId: string;
  /** The command that goes on. */
  readonly resume: string | undefined;

  constructor(cause: ResearchError, requestId: string, resume: string | undefined) {
    super(cause.message, { cause });
    this.cause = cause;
    this.requestId = requestId;
    this.resume = resume;
  }

  /** `error` as an UnfinishedError, unless it says that the request has ended, or did not come from the service. */
  static unlessEnded(error: unknown, requestId: string, resume: string | undefined): unknown {
    const hasEnded = error instanceof ResearchError && /^RESEARCH_(?:FAILED|STOPPED)$/.test(error.code);
    return error instanceof ResearchError && !hasEnded
      ? new UnfinishedError(error, requestId, resume)
      : error;
  }
}

/** What a shell reports for a process that died of a signal. */
export const SIGNAL_EXIT_CODES: Record<Signal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** The reader of stdout has closed it. */
export class ClosedPipe extends Error {}

const ERRORS_FIRST = [3, 10, 8];

/**
 * The exit code of several ids, from theirs in the order given: the first error wins, then FAILED, then
 * STOPPED, then unfinished.
 */
export function worstOf(codes: readonly number[]): number {
  const error = codes.find((code) => code !== 0 && !ERRORS_FIRST.includes(code));
  return error ?? ERRORS_FIRST.find((code) => codes.includes(code)) ?? 0;
}
