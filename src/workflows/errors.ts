import { type ErrorFacts, OutcomeUnknownError, RefusedError, ResearchError } from "../client/errors.js";
import { isFinal } from "../protocol/conversation.js";
import { WINDOW_MS } from "../protocol/limits.js";
import { LocalError } from "../store/files.js";
import type { HistoryEntry } from "../store/history/history.js";

/** The create could not be recorded, so it was not sent. */
export class NotRecordedError extends LocalError {}

/** This machine's own records say that no create is left in this hour. Nothing was sent. */
export class QuotaExceededError extends Error {
  override name = "QuotaExceededError";
  /** When the next create is allowed, in seconds from the time the error was made. */
  readonly retryAfter: number;

  /** `limit`: creates per hour. `until`: when the next create is allowed, epoch ms. */
  constructor(
    readonly limit: number,
    readonly until: number,
    now: number,
  ) {
    super(`this machine has sent ${limit} creates within ${WINDOW_MS / 60_000} minutes, which is the limit`);
    this.retryAfter = Math.ceil((until - now) / 1_000);
  }
}

/** A create was sent and its outcome is unknown; `localId` is its name in the history. Never repeat it. */
export class UnresolvedCreateError extends OutcomeUnknownError {
  /**
   * `localId`: undefined if no history is kept. `notSaved`: why an id that was found in a broken answer could not be
   * recorded.
   */
  constructor(
    message: string,
    facts: ErrorFacts,
    readonly localId: string | undefined,
    readonly notSaved: LocalError | undefined,
  ) {
    super(message, facts);
  }

  /** The same of a create that an earlier call recorded. */
  static of({ local_id, request_id, sent_at }: HistoryEntry): UnresolvedCreateError {
    const facts = { requestId: request_id ?? undefined };
    return new UnresolvedCreateError(`create ${local_id} was sent at ${sent_at}`, facts, local_id, undefined);
  }
}

/** A 404 about a request that the history has under another origin. */
export class CreatedElsewhereError extends RefusedError {
  constructor(
    refusal: RefusedError,
    requestId: string,
    made: { origin: string; profile?: string | null },
    asked: string,
  ) {
    const { enveloped, code, message } = refusal;
    const flag = made.profile ? `--profile ${made.profile}` : `--base-url ${made.origin}`;
    const why = `${requestId} was created at ${made.origin} and not at ${asked}; add ${flag}`;
    const facts = { ...refusal, hint: undefined };
    super("not-found", enveloped, code, `${message.replace(/\.$/, "")}: ${why}`, facts);
  }
}

/** A text does not name a request. */
export class TargetError extends Error {
  override name = "TargetError";

  constructor(
    readonly kind: "invalid" | "ambiguous" | "none-created" | "not-created" | "not-recorded",
    message: string,
  ) {
    super(message);
  }
}

/** The research ended FAILED or STOPPED, so there is no result. */
export class NoResultError extends ResearchError {
  constructor(requestId: string, status: "FAILED" | "STOPPED") {
    super(`RESEARCH_${status}`, `${requestId} ended ${status}, so it has no output`, { requestId });
  }
}

/** The service accepted a stop, and yet the request is not STOPPED: §4.2 says it is, a provider may take longer. */
export class StillRunningError extends ResearchError {
  constructor(
    requestId: string,
    { status, provider_status: word }: { status: string; provider_status?: unknown },
  ) {
    const code = word === undefined || isFinal(status) ? "BAD_RESPONSE" : "NOT_FINISHED";
    super(code, `the service accepted the stop, but ${requestId} is ${status}`, { requestId });
  }
}

/** A create that may not be sent from here, whatever the service says. Nothing was sent. */
export class CreateRefusedError extends Error {
  override name = "CreateRefusedError";

  constructor(readonly kind: "no-history" | "used-up") {
    const why = kind === "no-history" ? "no history is kept" : "all creates are used up";
    super(`${why}, so the request was not sent`);
  }
}
