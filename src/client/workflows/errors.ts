import { LocalError } from "../../core/files/local-error.js";
import { type ErrorFacts, OutcomeUnknownError, ResearchError } from "../calls/errors.js";
import type { HistoryEntry } from "../store/history/records.js";

/** The create could not be recorded, so it was not sent. */
export class NotRecordedError extends LocalError {}

/** By this machine's own records, the limit of this hour or day is used up. Nothing was sent. */
export class QuotaExceededError extends Error {
  /** When the next create is allowed, in seconds from the time the error was made. */
  readonly retryAfter: number;

  /** `limit`: creates per hour, or in 24 hours with `day`: what sets it, and whose it is. `until`: when the next create is allowed, epoch ms. */
  constructor(
    readonly limit: number,
    readonly until: number,
    now: number,
    readonly day?: { source: string; origin: string; profile: string | null },
  ) {
    super(`the limit of ${limit} creates is used up`);
    this.retryAfter = Math.ceil((until - now) / 1_000);
  }
}

/** A create was sent and its outcome is unknown; `localId` is its name in the history. Never repeat it. */
export class UnresolvedCreateError extends OutcomeUnknownError {
  /** `localId`: undefined without a history. `notSaved`: why an id in a broken answer could not be recorded. */
  constructor(
    message: string,
    facts: ErrorFacts,
    readonly localId: string | undefined,
    readonly notSaved: LocalError | undefined,
  ) {
    super(message, facts);
  }

  /** Builds the error for a create that an earlier call recorded. */
  static of({ local_id, request_id, sent_at }: HistoryEntry): UnresolvedCreateError {
    const facts = { requestId: request_id ?? undefined };
    return new UnresolvedCreateError(`create ${local_id} was sent at ${sent_at}`, facts, local_id, undefined);
  }
}

/** Several accounts refused a create; `cause` is the last one's error, `reasons` holds the error of each. */
export class NoAccountError extends Error {
  constructor(readonly reasons: readonly { name: string; error: unknown }[]) {
    super("no account took the request", { cause: reasons.at(-1)?.error });
  }
}

/** The history has no request that the text names. */
export class NotInHistoryError extends ResearchError {
  constructor(message: string) {
    super("NOT_FOUND", message, { hint: "`research list` shows what is." });
  }
}

/** A create that local rules do not allow. Nothing was sent. */
export class CreateRefusedError extends ResearchError {
  constructor(readonly kind: "no-history" | "used-up") {
    const why = kind === "no-history" ? "the history is off" : "all creates are used up";
    const hint =
      "--once and per-day count by the history: `research config unset history`, or unset RESEARCH_NO_HISTORY.";
    super("NOT_ALLOWED", `${why}, so the request was not sent`, kind === "no-history" ? { hint } : {});
  }
}
