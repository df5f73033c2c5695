import type { ErrorFacts } from "../client/calls/errors.js";

export interface Facts extends ErrorFacts {
  localId?: string | undefined;
}

export const EXIT_CODES = {
  INTERNAL: 1,
  USAGE: 2,
  NOT_CONFIGURED: 2,
  RESEARCH_FAILED: 3,
  NO_RESULT: 3,
  NOT_AUTHENTICATED: 4,
  NOT_FOUND: 5,
  NOT_ALLOWED: 6,
  NO_CREDIT: 6,
  RATE_LIMITED: 7,
  DAY_LIMIT: 7,
  BUDGET: 7,
  NOT_FINISHED: 8,
  TIMEOUT: 8,
  UNREACHABLE: 9,
  BAD_RESPONSE: 9,
  NOT_CHECKED: 9,
  RESEARCH_STOPPED: 10,
  OUTCOME_UNKNOWN: 11,
  LOCAL_IO: 12,
  SCHEMA_MISMATCH: 13,
} as const;

/** Returns 14 if a citation is missing, gone or contradicted; otherwise 0 (contract §11). */
export function getCheckExitCode({ counts }: { counts: Readonly<Record<string, number>> }): 0 | 14 {
  const { missing = 0, gone = 0, contradicted = 0 } = counts;
  return missing + gone + contradicted > 0 ? 14 : 0;
}

export type OurCode = keyof typeof EXIT_CODES;

/** Returns whether an error code is one of the program (contract §1.4) rather than of the service. */
export function isOwnCode(code: string): boolean {
  return code in EXIT_CODES || code === "INTERRUPTED";
}

/** An error of the program itself, with a code of contract §1.4. The hint says what to do. */
export class CodedError extends Error {
  constructor(
    readonly code: OurCode,
    message: string,
    readonly facts: Facts = {},
  ) {
    super(message);
  }
}

/** Thrown for bad input; nothing was sent. */
export class UsageError extends CodedError {
  constructor(message: string, hint?: string) {
    super("USAGE", message, { hint });
  }
}

/** Returns the flag of an option: `--not-domains` for `notDomains`. */
export function formatFlag(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function findGivenFlag(options: Readonly<Record<string, unknown>>): string | undefined {
  const name = Object.keys(options).find((flag) => options[flag] !== undefined && options[flag] !== false);
  return name === undefined ? undefined : formatFlag(name);
}

/** Throws UsageError if one of `others` is given together with `flag`. */
export function refuseFlagsBeside(
  flag: string,
  others: Readonly<Record<string, unknown>>,
  hint?: string,
): void {
  const other = findGivenFlag(others);
  if (other) throw new UsageError(`${flag} and ${other} cannot be used together`, hint);
}

export const NAME_ONE = "Name a request: @last is the newest, and `research list` shows all.";
