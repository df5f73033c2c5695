import { isCutShort, type RefusalKind } from "../dialects/dialect.js";
import { fields, text } from "../dialects/reading.js";
import type { Data } from "../protocol/conversation.js";

export type { RefusalKind } from "../dialects/dialect.js";

/** What an error may know beside its sentence. Absent where it does not apply. */
export interface ErrorFacts {
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  /** Seconds the service asked to wait. */
  retryAfter?: number | undefined;
  /** One thing to do about it. */
  hint?: string | undefined;
}

/** The root of every error this library throws on purpose. `code` is the service's own, or one of ours. */
export class ResearchError extends Error {
  // Spelled out in each class: the names of classes are shortened in the build.
  override readonly name: string = "ResearchError";
  readonly code: string;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.code = code;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.hint = facts.hint;
  }
}

/** The service said no, readably. It did nothing, and asking again unchanged would get the same answer. */
export class RefusedError extends ResearchError {
  override readonly name = "RefusedError";
  readonly kind: RefusalKind;
  /** False where the answer had no envelope: something in between may have given it. */
  readonly enveloped: boolean;

  constructor(kind: RefusalKind, enveloped: boolean, code: string, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
    this.kind = kind;
    this.enveloped = enveloped;
  }
}

/** The service could not be reached, or its answer could not be read. Nothing was created. */
export class UnreachableError extends ResearchError {
  override readonly name = "UnreachableError";
}

/** A create was sent and no readable answer came back: the request may or may not exist. Never repeat it. */
export class OutcomeUnknownError extends ResearchError {
  override readonly name = "OutcomeUnknownError";
  /** What came instead of an answer. */
  readonly detail: string;

  constructor(detail: string, facts: ErrorFacts = {}) {
    const message = `the request was sent and no readable answer came back, so it may or may not exist; do not repeat it without looking (${detail})`;
    super("OUTCOME_UNKNOWN", message, facts);
    this.detail = detail;
  }
}

/** There is no output to fetch: the research has not finished, or ended without one, or the service kept it. */
export class NoOutputError extends ResearchError {
  override readonly name = "NoOutputError";
  readonly status: string;

  /** The same from a provider's answer, which says itself what became of the request. */
  static of(data: Data & { status: string }, requestId: string): NoOutputError {
    const { message } = fields(data.error);
    const why = text(message) ?? text(data.error) ?? text(data.stop_reason) ?? String(data.provider_status);
    if (!isCutShort(data)) return new NoOutputError(data.status, new ResearchError("", why), requestId);
    const hint = `research output --partial ${requestId} prints what there is.`;
    const error = new NoOutputError(data.status, new ResearchError("", why, { hint }), requestId);
    error.message = `${requestId} ended FAILED: its result was cut short (${why})`;
    return error;
  }

  constructor(status: string, refusal: ResearchError, requestId: string) {
    super(codeOfMissingOutput(status), sentence(status, requestId, refusal), { ...refusal, requestId });
    this.status = status;
  }
}

function codeOfMissingOutput(status: string): string {
  switch (status) {
    case "FAILED":
      return "RESEARCH_FAILED";
    case "STOPPED":
      return "RESEARCH_STOPPED";
    case "COMPLETED":
      return "BAD_RESPONSE";
    default:
      return "NOT_FINISHED";
  }
}

function sentence(status: string, requestId: string, refusal: ResearchError): string {
  switch (status) {
    case "FAILED":
      return `${requestId} ended FAILED: ${refusal.message}`;
    case "STOPPED":
      return `${requestId} was stopped, so it has no output`;
    case "COMPLETED":
      return `${requestId} is COMPLETED, but the service gives no output: ${refusal.message}`;
    default:
      return `${requestId} is not finished yet: ${status}`;
  }
}
