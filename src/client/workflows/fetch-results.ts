import { runWithDeadline } from "../../core/clock.js";
import { findMemberText, type JsonText, stringifyExact, tryParseExact } from "../../core/json/exact-json.js";
import type { SchemaProblem } from "../../core/json-schema/check-in-thread.js";
import { type Data, isFinal, type JsonSchema } from "../../core/protocol/conversation.js";
import { NoOutputError, ResearchError } from "../calls/errors.js";
import type { CallOptions, StatusData } from "../calls/research-client.js";
import { isResultCutShort } from "../dialects/providers.js";
import { getServiceAddress } from "../store/history/history-records.js";
import {
  explainForeign404,
  findRecordedAt,
  isCreatedAtService,
  parseStructuredOutput,
  recordState,
  type Target,
} from "./find-and-query-requests.js";

/** The output of a COMPLETED request, or a part of a result that was cut short. */
export interface Result {
  /** The `data` of the answer, unchanged (§4.4). */
  data: Data;
  /** The result itself: the output field of `data`, or all of `data` if that field is missing. */
  value: unknown;
  /** The result as JSON with the service's exact digits and names, which `value` may have lost. */
  exact: JsonText | Data;
}

/**
 * Fetches a result. Rejects with NoOutputError if the request has none, as the client does, with ResearchError
 * `TIMEOUT` at `end`, or with `signal.reason`.
 */
export async function fetchResult(
  target: Target,
  { partial = false, schema, ...limits }: FetchResultOptions = {},
): Promise<Result> {
  const { requestId, entry, account } = target;
  const kept = findProviderEnd(target);
  if (kept && kept.status !== "COMPLETED" && !(partial && isResultCutShort(kept)))
    throw NoOutputError.of(kept, requestId);
  const ask = (signal: AbortSignal) =>
    account.client.output(requestId, { signal, partial, recordedAt: findRecordedAt(target) });
  const answer =
    kept ??
    (await askBeforeDeadline(target, limits, ask).catch((error: unknown) => {
      recordFailureReason(target, error);
      throw explainForeign404(error, target);
    }));
  // The result has arrived, so a failure to record the end is not an error.
  const state = isFinal(String(answer.status)) ? answer : { status: "COMPLETED" };
  if (kept?.status !== entry?.status) recordState(target, state as StatusData);
  return extractResult(answer, account.outputField, schema ?? entry?.output_schema);
}

/** Reads the result from the data of an answer. */
export function extractResult(
  answer: Data,
  outputField: string,
  schema: JsonSchema | null | undefined,
): Result {
  const data = parseStructuredOutput(answer, schema);
  const value = Object.hasOwn(data, outputField) ? data[outputField] : data;
  return { data, value, exact: findMemberText(data, outputField) ?? data };
}

/** Minimum time for a fetch that begins just before the timeout, in milliseconds; the same as for the last poll of a watch. */
const LAST_FETCH_MS = 2_000;

async function askBeforeDeadline<T>(
  { requestId, account: { clock } }: Target,
  { signal = new AbortController().signal, end }: FetchLimits,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (end === undefined) return await ask(signal);
  const late = new ResearchError("TIMEOUT", `the result of ${requestId} was not read in time`, { requestId });
  return await runWithDeadline(clock, Math.max(end - clock.monotonic(), LAST_FETCH_MS), signal, late, ask);
}

interface FetchLimits extends CallOptions {
  /** Monotonic ms at which the timeout is reached; undefined for no timeout. */
  end?: number | undefined;
}

export interface FetchResultOptions extends FetchLimits {
  /** Whether to accept a result that was cut short. */
  partial?: boolean | undefined;
  /** The schema of the request; default: the schema in the history. */
  schema?: JsonSchema | null | undefined;
}

/** Returns how a provider's request ended, from the answer to its create call, a kept result or the history; undefined if none shows it. */
export function findProviderEnd(target: Target): StatusData | undefined {
  const { end } = target;
  const isWhole =
    end?.provider_status !== undefined && (end.output !== undefined || end.status !== "COMPLETED");
  return isWhole ? end : (readKeptResult(target) ?? findRecordedEnd(target));
}

/** Returns the recorded end of a provider's request without a result; undefined otherwise. The interface is asked for the reason instead. */
function findRecordedEnd({ requestId, entry, account }: Target): StatusData | undefined {
  if (!account.provider || !entry || !isCreatedAtService(entry, account)) return undefined;
  const { status, cut_short, message } = entry;
  const hasEnded = status === "STOPPED" || (status === "FAILED" && !cut_short);
  return hasEnded
    ? { request_id: requestId, status, ...(message !== undefined && { error: message }) }
    : undefined;
}

/** Returns the service that created a request. The request's result and check are kept under it. */
export function getServiceOfTarget({ entry, account }: Target): string {
  return getServiceAddress(entry ?? { origin: account.origin, base_path: account.basePath });
}

/** Returns the data of a kept result; undefined if none is kept. */
export function readKeptResult(target: Target): StatusData | undefined {
  const text = target.account.history?.results.read(getServiceOfTarget(target), target.requestId);
  return tryParseExact(text ?? "") as StatusData | undefined;
}

/** Finds the first place at which a result breaks its schema; undefined if it fits. A problem without a path: the check exceeded its limits. */
export async function checkResultSchema(
  { exact }: Pick<Result, "exact">,
  schema: JsonSchema,
  { signal }: CallOptions = {},
): Promise<SchemaProblem | undefined> {
  const { checkValue } = await import("../../core/json-schema/check-in-thread.js");
  return checkValue(schema, stringifyExact(exact), signal);
}

/**
 * Returns why an ended request has no result, in the service's words if it sends any by `end` (monotonic ms). Rejects
 * only with `signal.reason`.
 */
export async function explainNoResult(
  target: Target,
  status: "FAILED" | "STOPPED",
  limits: FetchLimits = {},
): Promise<ResearchError> {
  const { requestId, account } = target;
  const end = findProviderEnd(target);
  if (end?.status === status) return account.client.createNoOutputError(end, requestId);
  if (status === "FAILED") {
    try {
      await askBeforeDeadline(target, limits, (signal) => account.client.output(requestId, { signal }));
    } catch (error) {
      limits.signal?.throwIfAborted();
      recordFailureReason(target, error);
      if (error instanceof NoOutputError && error.status === status) return error;
    }
  }
  return new ResearchError(`RESEARCH_${status}`, `${requestId} ended ${status}, so it has no output`, {
    requestId,
  });
}

/** Records why a request failed, which the interface reports only in its answer to a fetch of the result. */
function recordFailureReason(target: Target, error: unknown): void {
  if (!(error instanceof NoOutputError) || error.status !== "FAILED") return;
  recordState(target, error.data ?? { status: "FAILED", message: error.refusal.message });
}
