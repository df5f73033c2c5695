import type { Data } from "../../core/protocol/conversation.js";
import type { RefusalKind } from "../dialects/dialect.js";
import { hasNoResult, isCutShort } from "../dialects/providers.js";
import { readFields, readText } from "../dialects/reading.js";

export type { RefusalKind } from "../dialects/dialect.js";

/** What an error may know beside its sentence. Absent where it does not apply. */
export interface ErrorFacts {
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  /** Seconds the service asked to wait. */
  retryAfter?: number | undefined;
  /** One thing to do about it. */
  hint?: string | undefined;
  /** Whether nothing was sent, of a service that could not be reached. */
  unsent?: boolean | undefined;
}

/** The root of every error this library throws on purpose. `code` is the service's own, or one of ours. */
export class ResearchError extends Error {
  // Spelled out in each class: the names of classes are shortened in the build.
  override readonly name: string = "ResearchError";
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  constructor(
    readonly code: string,
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(message);
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.hint = facts.hint;
  }
}

/** The service said no, readably. It did nothing, and asking again unchanged would get the same answer. */
export class RefusedError extends ResearchError {
  override readonly name = "RefusedError";

  /** `enveloped`: false where the answer had no envelope: something in between may have given it. */
  constructor(
    readonly kind: RefusalKind,
    readonly enveloped: boolean,
    code: string,
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(code, message, facts);
  }
}

/** The service could not be reached, or its answer could not be read. Nothing was created. */
export class UnreachableError extends ResearchError {
  override readonly name = "UnreachableError";
  readonly unsent: boolean;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
    this.unsent = facts.unsent ?? false;
  }
}

/** A create was sent and no readable answer came back: the request may or may not exist. Never repeat it. */
export class OutcomeUnknownError extends ResearchError {
  override readonly name = "OutcomeUnknownError";

  /** `detail`: what came instead of an answer. */
  constructor(
    readonly detail: string,
    facts: ErrorFacts = {},
  ) {
    const message = `the request was sent and no readable answer came back, so it may or may not exist; do not repeat it without looking (${detail})`;
    super("OUTCOME_UNKNOWN", message, facts);
  }
}

/** There is no output to fetch: the research has not finished, or ended without one, or the service kept it. */
export class NoOutputError extends ResearchError {
  override readonly name = "NoOutputError";

  /** Makes one from a provider's answer, which says itself what became of the request. */
  static of(data: Data & { status: string }, requestId: string): NoOutputError {
    const why = explainFailed(data) ?? String(data.provider_status);
    const make = (sentence: string, hint?: string) =>
      new NoOutputError(data.status, new ResearchError("", sentence, { hint }), requestId, data);
    const partial = `research output --partial ${requestId} prints`;
    if (hasNoResult(data)) return make(why, `${partial} the provider's data.`);
    return isCutShort(data)
      ? make(`its result was cut short (${why})`, `${partial} what there is.`)
      : make(why);
  }

  /** `data`: a provider's answer that shows the end. */
  constructor(
    readonly status: string,
    readonly refusal: ResearchError,
    requestId: string,
    readonly data?: Data & { status: string },
  ) {
    const [code, why] =
      data && hasNoResult(data)
        ? ["NO_RESULT", `ended without a result, and is paid for: ${refusal.message}`]
        : explainMissing(status, refusal.message);
    super(code, `${requestId} ${why}`, { ...refusal, requestId });
  }
}

/** Returns why a request failed, in a provider's words; undefined if its data says nothing of it. */
export function explainFailed(data: Data): string | undefined {
  const { error, stop_reason } = data;
  if (hasNoResult(data))
    return stop_reason === "refusal"
      ? `the model refused: ${data.message}`
      : "the provider says that it is completed, and its answer holds no text";
  const { message, code } = readFields(error);
  return (
    readText(message) ??
    readText(error) ??
    readText(typeof code === "number" ? String(code) : code) ??
    readText(stop_reason)
  );
}

/** The code and the sentence, without its subject, for a request in this state that gives no output. */
function explainMissing(status: string, refusal: string): [code: string, why: string] {
  switch (status) {
    case "FAILED":
      return ["RESEARCH_FAILED", `ended FAILED: ${refusal}`];
    case "STOPPED":
      return ["RESEARCH_STOPPED", "was stopped, so it has no output"];
    case "COMPLETED":
      return ["BAD_RESPONSE", `is COMPLETED, but the service gives no output: ${refusal}`];
    default:
      return ["NOT_FINISHED", `is not finished yet: ${status}`];
  }
}

/** The error codes that are ours for a refusal without one of the service's own. */
export const CODE_OF_REFUSAL = {
  "invalid-input": "USAGE",
  unauthenticated: "NOT_AUTHENTICATED",
  withheld: "NOT_AUTHENTICATED",
  "not-found": "NOT_FOUND",
  refused: "NOT_ALLOWED",
  "rate-limited": "RATE_LIMITED",
  "no-credit": "NO_CREDIT",
} as const satisfies Record<RefusalKind, string>;
