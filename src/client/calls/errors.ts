import type { Data } from "../../core/protocol/conversation.js";
import type { RefusalKind } from "../dialects/dialect.js";
import { hasNoResult, isResultCutShort } from "../dialects/providers.js";
import { readNonBlank, readObject } from "../dialects/read-response.js";

export type { RefusalKind } from "../dialects/dialect.js";

/** What is known about an error besides its message. A fact that does not apply is absent. */
export interface ErrorFacts {
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  /** Seconds that the service asks to wait. */
  retryAfter?: number | undefined;
  /** What the user can do about the error. */
  hint?: string | undefined;
  /** Whether nothing was sent, if the service is unreachable. */
  unsent?: boolean | undefined;
}

/** The base class of every error that this library throws on purpose. `code` is the service's code, or else ours. */
export class ResearchError extends Error {
  // Each class sets its name, because the build shortens the names of classes.
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

/** Thrown if the service refused the request and did nothing. It would refuse the same request again. */
export class RefusedError extends ResearchError {
  override readonly name = "RefusedError";

  /** `enveloped`: false if the answer had no envelope, so that an intermediary may have sent it. */
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

/** Thrown if the service could not be reached, or its answer could not be read. No request was created. */
export class UnreachableError extends ResearchError {
  override readonly name = "UnreachableError";
  readonly unsent: boolean;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
    this.unsent = facts.unsent ?? false;
  }
}

/** Thrown if a create call was sent and no readable answer came, so that the request may exist. Never repeat the call. */
export class OutcomeUnknownError extends ResearchError {
  override readonly name = "OutcomeUnknownError";

  /** `detail`: what happened instead of an answer. */
  constructor(
    readonly detail: string,
    facts: ErrorFacts = {},
  ) {
    const message = `the request was sent and no readable answer came back, so it may or may not exist; do not repeat it without looking (${detail})`;
    super("OUTCOME_UNKNOWN", message, facts);
  }
}

/** Thrown if no output can be fetched: the research is not finished, ended without output, or the service does not return it. */
export class NoOutputError extends ResearchError {
  override readonly name = "NoOutputError";

  /** Creates the error from a provider's answer, which says why the request ended. */
  static of(data: Data & { status: string }, requestId: string): NoOutputError {
    const why = explainFailure(data) ?? String(data.provider_status);
    const make = (sentence: string, hint?: string) =>
      new NoOutputError(data.status, new ResearchError("", sentence, { hint }), requestId, data);
    const partial = `research output --partial ${requestId} prints`;
    if (hasNoResult(data)) return make(why, `${partial} the provider's data.`);
    return isResultCutShort(data)
      ? make(`its result was cut short (${why})`, `${partial} the part that exists.`)
      : make(why);
  }

  /** `data`: a provider's answer with the final state. */
  constructor(
    readonly status: string,
    readonly refusal: ResearchError,
    requestId: string,
    readonly data?: Data & { status: string },
  ) {
    const [code, why] =
      data && hasNoResult(data)
        ? ["NO_RESULT", `ended without a result, and is paid for: ${refusal.message}`]
        : explainMissingOutput(status, refusal.message);
    super(code, `${requestId} ${why}`, { ...refusal, requestId });
  }
}

/** Returns why a request failed, in the provider's words; undefined if the data does not say. */
export function explainFailure(data: Data): string | undefined {
  const { error, stop_reason } = data;
  if (hasNoResult(data))
    return stop_reason === "refusal"
      ? `the model refused: ${data.message}`
      : "the provider reports it as completed, but its answer has no text";
  const { message, code } = readObject(error);
  return (
    readNonBlank(message) ??
    readNonBlank(error) ??
    readNonBlank(typeof code === "number" ? String(code) : code) ??
    readNonBlank(stop_reason)
  );
}

/** Returns the error code, and the message without its subject, for a request in this state without output. */
function explainMissingOutput(status: string, refusal: string): [code: string, why: string] {
  switch (status) {
    case "FAILED":
      return ["RESEARCH_FAILED", `ended FAILED: ${refusal}`];
    case "STOPPED":
      return ["RESEARCH_STOPPED", "was stopped, so it has no output"];
    case "COMPLETED":
      return ["BAD_RESPONSE", `is COMPLETED, but the service returns no output: ${refusal}`];
    default:
      return ["NOT_FINISHED", `is not finished yet: ${status}`];
  }
}

/** Our error code for each refusal in which the service sends no code. */
export const CODE_OF_REFUSAL = {
  "invalid-input": "USAGE",
  unauthenticated: "NOT_AUTHENTICATED",
  withheld: "NOT_AUTHENTICATED",
  "not-found": "NOT_FOUND",
  refused: "NOT_ALLOWED",
  "rate-limited": "RATE_LIMITED",
  "no-credit": "NO_CREDIT",
} as const satisfies Record<RefusalKind, string>;
