import { LocalError } from "../../core/files/local-error.js";
import { type ErrorFacts, OutcomeUnknownError, ResearchError } from "../calls/errors.js";
import type { HistoryEntry } from "../store/history/history-records.js";

/** Thrown if a create call could not be recorded, and so was not sent. */
export class NotRecordedError extends LocalError {}

/** Thrown if this machine's records show that the limit of the hour or day is used up. Nothing was sent. */
export class QuotaExceededError extends Error {
  /** Seconds from the creation of this error until the next create call is allowed. */
  readonly retryAfter: number;

  /** `limit`: create calls per hour, or per 24 hours with `day`, which says what sets the limit and for whom. `until`: when the next is allowed, epoch ms. */
  constructor(
    readonly limit: number,
    readonly until: number,
    now: number,
    readonly day?: { source: string; origin: string; profile: string | null },
  ) {
    super(`the limit of ${limit} create requests is reached`);
    this.retryAfter = Math.ceil((until - now) / 1_000);
  }
}

/** Thrown if a create call was sent and its outcome is unknown. Never repeat it. `localId` is its id in the history. */
export class UnresolvedCreateError extends OutcomeUnknownError {
  /** `localId`: undefined without a history. `notSaved`: why the id in a broken answer could not be recorded. */
  constructor(
    message: string,
    facts: ErrorFacts,
    readonly localId: string | undefined,
    readonly notSaved: LocalError | undefined,
  ) {
    super(message, facts);
  }

  /** Creates the error for a create call that an earlier call recorded. */
  static of({ local_id, request_id, sent_at }: HistoryEntry): UnresolvedCreateError {
    const facts = { requestId: request_id ?? undefined };
    return new UnresolvedCreateError(`create ${local_id} was sent at ${sent_at}`, facts, local_id, undefined);
  }
}

/** Thrown if several accounts refused a create call. `reasons` has the error of each; `cause` is the last one. */
export class NoAccountError extends Error {
  constructor(readonly reasons: readonly { name: string; error: unknown }[]) {
    super("no account accepted the request", { cause: reasons.at(-1)?.error });
  }
}

/** Thrown if the history has no request that fits the user's text. */
export class NotInHistoryError extends ResearchError {
  constructor(message: string) {
    super("NOT_FOUND", message, { hint: "`research list` shows the requests of this machine." });
  }
}

/** Thrown if a local rule forbids a create call. Nothing was sent. */
export class CreateRefusedError extends ResearchError {
  constructor(readonly kind: "no-history" | "used-up") {
    const why = kind === "no-history" ? "the history is off" : "the limit of create requests is reached";
    const hint =
      "--once and per-day need the history: run `research config unset history`, or unset RESEARCH_NO_HISTORY.";
    super("NOT_ALLOWED", `${why}, so the request was not sent`, kind === "no-history" ? { hint } : {});
  }
}
