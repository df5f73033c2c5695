import { getServiceOfTarget } from "../client/workflows/fetch-results.js";
import { isCreatedAtService, type Target } from "../client/workflows/find-and-query-requests.js";
import { isObject, tryParseExact } from "../core/json/exact-json.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import { buildKeptOutcome, type KeptOutcome } from "./citation-judge.js";

/**
 * Keeps the check of a request's result as long as the result. An incomplete check does not replace a complete one
 * whose citations were judged by a model. Throws LocalError.
 */
export function keepCheckOutcome(target: Target, outcome: CheckOutcome): void {
  const { requestId, entry, account } = target;
  const { history } = account;
  if (!entry || !isCreatedAtService(entry, account)) return;
  const earlier = outcome.complete ? undefined : readKeptOutcome(target);
  const isPoorer = earlier?.complete && earlier.model && (outcome.model ?? earlier.model) === earlier.model;
  if (isPoorer) return;
  const text = JSON.stringify(buildKeptOutcome(outcome));
  history?.keep(history.checks, { ...entry, request_id: requestId }, text, true);
}

export function readKeptOutcome(target: Target): KeptOutcome | undefined {
  const text = target.account.history?.checks.read(getServiceOfTarget(target), target.requestId);
  const kept = tryParseExact(text ?? "");
  return isObject(kept) && Array.isArray(kept.citations) && isObject(kept.counts)
    ? (kept as unknown as KeptOutcome)
    : undefined;
}
