import { RefusedError, ResearchError, UnreachableError } from "../../calls/errors.js";
import { QuotaExceededError, UnresolvedCreateError } from "../errors.js";

/** The causes for which a create call of a batch can fail. */
export type CreateFailureCause = keyof typeof FAILED_CREATES;

/**
 * What a batch does after a failed create call. An id in the answer needs no column: `ResearchClient.create` has checked
 * that id, so the outcome is a request, an unknown outcome, or a final refusal.
 * - `row`: an `unknown` row may exist and is never sent again; a `refused` one has ended. `first` is sent again before all
 *   others, `last` after them, and `left` when the batch is run again.
 * - `account`: `sent` goes on with the next row, `waits` waits for the limit, and `backs-off` until the service can be
 *   reached. `ends` sends no more to this account, `all-end` to no account.
 * - `isCounted`: whether the create call counts for the hour as one that was sent.
 * - `isDismissed`: whether it provably created nothing; after any other failure the journal keeps the row open.
 */
interface CreateFailureDecision {
  row: "unknown" | "refused" | "first" | "last" | "left";
  account: "sent" | "waits" | "backs-off" | "ends" | "all-end";
  isCounted: boolean;
  isDismissed: boolean;
}

export const FAILED_CREATES = {
  /** The create call was sent, and its outcome is unknown. */
  unknown: { row: "unknown", account: "sent", isCounted: true, isDismissed: false },
  /** The service refused the content or size of the request, or does not support it. */
  refused: { row: "refused", account: "sent", isCounted: true, isDismissed: true },
  /** A limit that ends within a day refused the create call. Another row may be smaller, so others go first. */
  limited: { row: "last", account: "waits", isCounted: false, isDismissed: true },
  /** This machine's own count of the hour or day is full. Nothing was sent. */
  "own-limit": { row: "first", account: "waits", isCounted: false, isDismissed: true },
  /** No connection was made, or something between refused it. Nothing was sent. */
  unreachable: { row: "first", account: "backs-off", isCounted: false, isDismissed: true },
  /** The account has no money, a refused key, or a limit of more than a day, so it would refuse all other rows, too. */
  closed: { row: "left", account: "ends", isCounted: false, isDismissed: true },
  /** The create call could not be recorded here, or a defect occurred. */
  broken: { row: "left", account: "all-end", isCounted: false, isDismissed: false },
} as const satisfies Record<string, CreateFailureDecision>;

/** Returns why a create call failed. `isWaitedFor`: whether the batch waits for the limit that refused it. */
export function classifyCreateFailure(error: unknown, isWaitedFor: boolean): CreateFailureCause {
  if (error instanceof UnresolvedCreateError) return "unknown";
  if (isWaitedFor) return error instanceof QuotaExceededError ? "own-limit" : "limited";
  if (error instanceof UnreachableError) return "unreachable";
  if (error instanceof RefusedError && ["invalid-input", "refused"].includes(error.kind)) return "refused";
  if (error instanceof ResearchError) return error.code === "USAGE" ? "refused" : "closed";
  return error instanceof QuotaExceededError ? "closed" : "broken";
}
