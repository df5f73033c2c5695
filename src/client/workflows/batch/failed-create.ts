import { RefusedError, ResearchError, UnreachableError } from "../../calls/errors.js";
import { QuotaExceededError, UnresolvedCreateError } from "../errors.js";

/** Why a create of a batch failed, by what follows for its row and its account. */
export type FailureCause = keyof typeof FAILED_CREATES;

/**
 * What a batch does about a create that failed. An id in the answer needs no column of its own: `ResearchClient.create`
 * has asked for it, and what came of that is a request, an unknown outcome, or a refusal that stands.
 * - `row`: `unknown` may exist and is never sent again, `refused` is over. `first` is sent again before all others, `last`
 *   behind them; `left` is left to the next command.
 * - `account`: the next row is `sent`, or the account `waits` for its limit, `backs-off` until it can be reached, or
 *   `ends`: it is sent no more. `all-end`: no account is sent any more.
 * - `isCounted`: whether it counts for the hour as one that was sent.
 * - `isDismissed`: whether it provably created nothing; after any other failure the journal keeps the row open.
 */
interface Decision {
  row: "unknown" | "refused" | "first" | "last" | "left";
  account: "sent" | "waits" | "backs-off" | "ends" | "all-end";
  isCounted: boolean;
  isDismissed: boolean;
}

export const FAILED_CREATES = {
  /** It was sent, and no answer says what became of it. */
  unknown: { row: "unknown", account: "sent", isCounted: true, isDismissed: false },
  /** Refused for what it asks, or for its size, or it cannot be asked at all. */
  refused: { row: "refused", account: "sent", isCounted: true, isDismissed: true },
  /** Refused for a limit that ends by itself within a day. Another row may be smaller, so it goes first. */
  limited: { row: "last", account: "waits", isCounted: false, isDismissed: true },
  /** This machine's own count of the hour or the day: nothing was sent. */
  "own-limit": { row: "first", account: "waits", isCounted: false, isDismissed: true },
  /** No connection, or something in between that refused. */
  unreachable: { row: "first", account: "backs-off", isCounted: false, isDismissed: true },
  /** No money, a refused key, a limit of more than a day: no other row would be taken either. */
  closed: { row: "left", account: "ends", isCounted: false, isDismissed: true },
  /** Nothing can be recorded here, or a defect. */
  broken: { row: "left", account: "all-end", isCounted: false, isDismissed: false },
} as const satisfies Record<string, Decision>;

/** `isWaitedFor`: whether the limit that refused the create is waited for. */
export function classifyCause(error: unknown, isWaitedFor: boolean): FailureCause {
  if (error instanceof UnresolvedCreateError) return "unknown";
  if (isWaitedFor) return error instanceof QuotaExceededError ? "own-limit" : "limited";
  if (error instanceof UnreachableError) return "unreachable";
  if (error instanceof RefusedError && ["invalid-input", "refused"].includes(error.kind)) return "refused";
  if (error instanceof ResearchError) return error.code === "USAGE" ? "refused" : "closed";
  return error instanceof QuotaExceededError ? "closed" : "broken";
}
