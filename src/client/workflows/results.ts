import { runWithDeadline } from "../../core/clock.js";
import { findMemberText, type JsonText, readJsonPath, stringifyExact } from "../../core/json/exact-json.js";
import type { Problem } from "../../core/json-schema/check.js";
import { type Data, isFinal, type JsonSchema } from "../../core/protocol/conversation.js";
import type { CallOptions, StatusData } from "../calls/client.js";
import { NoOutputError, ResearchError } from "../calls/errors.js";
import { isCutShort } from "../dialects/providers.js";
import { getService } from "../store/history/records.js";
import { addOrigin, findRecordedAt, isAt, observe, parseAsAsked, type Target } from "./requests.js";

/** The output of a COMPLETED request. */
export interface Result {
  /** The `data` of the response, unchanged (§4.4). */
  data: Data;
  /** The result itself: the output field of `data` if it is there, else all of it. */
  value: unknown;
  /** The same as JSON with the service's exact digits and names, which `value` may have lost. */
  exact: JsonText | Data;
}

/**
 * Fetches a result. Rejects with NoOutputError for another state, any other error of the client, ResearchError `TIMEOUT` at
 * `end`, or `signal.reason`.
 */
export async function fetchResult(
  target: Target,
  { partial = false, schema, ...limits }: FetchResultOptions = {},
): Promise<Result> {
  const { requestId, entry, account } = target;
  const kept = endOf(target);
  if (kept && kept.status !== "COMPLETED" && !(partial && isCutShort(kept)))
    throw NoOutputError.of(kept, requestId);
  const ask = (signal: AbortSignal) =>
    account.client.output(requestId, { signal, partial, recordedAt: findRecordedAt(target) });
  const answer =
    kept ??
    (await waitForDone(target, limits, ask).catch((error: unknown) => {
      keepReason(target, error);
      throw addOrigin(error, target);
    }));
  // The result has arrived, so a failure to record the end is not an error.
  const state = isFinal(String(answer.status)) ? answer : { status: "COMPLETED" };
  if (kept?.status !== entry?.status || !kept) observe(target, state as StatusData);
  return readResult(answer, account.outputField, schema ?? entry?.output_schema);
}

/** Reads the result from the data of a response. */
export function readResult(answer: Data, outputField: string, schema: JsonSchema | null | undefined): Result {
  const data = parseAsAsked(answer, schema);
  const value = Object.hasOwn(data, outputField) ? data[outputField] : data;
  return { data, value, exact: findMemberText(data, outputField) ?? data };
}

/** How long a fetch may take that begins just before the timeout, in milliseconds: as the last poll of a watch. */
const LAST_FETCH_MS = 2_000;

async function waitForDone<T>(
  { requestId, account: { clock } }: Target,
  { signal = new AbortController().signal, end }: FetchLimits,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (end === undefined) return await ask(signal);
  const late = new ResearchError("TIMEOUT", `the result of ${requestId} was not read in time`, { requestId });
  return await runWithDeadline(clock, Math.max(end - clock.monotonic(), LAST_FETCH_MS), signal, late, ask);
}

interface FetchLimits extends CallOptions {
  /** When the timeout is reached, in monotonic ms; undefined for no timeout. */
  end?: number | undefined;
}

export interface FetchResultOptions extends FetchLimits {
  /** Whether to accept the text of a result that was cut short. */
  partial?: boolean | undefined;
  /** The schema of the request; default: the one in the history. */
  schema?: JsonSchema | null | undefined;
}

/** Returns the end of a provider's request, from the response to its create, a kept result or its record. */
export function endOf(target: Target): StatusData | undefined {
  const { end } = target;
  const isWhole =
    end?.provider_status !== undefined && (end.output !== undefined || end.status !== "COMPLETED");
  return isWhole ? end : (readKeptResult(target) ?? findRecordedEnd(target));
}

/** Returns the recorded end of a request that has no result anywhere. The interface is asked for the reason instead. */
function findRecordedEnd({ requestId, entry, account }: Target): StatusData | undefined {
  if (!account.provider || !entry || !isAt(entry, account)) return undefined;
  const { status, cut_short, message } = entry;
  const hasEnded = status === "STOPPED" || (status === "FAILED" && !cut_short);
  return hasEnded
    ? { request_id: requestId, status, ...(message !== undefined && { error: message }) }
    : undefined;
}

/** Returns the service that created a request, under which its result and its check are kept. */
export function findService({ entry, account }: Target): string {
  return getService(entry ?? { origin: account.origin, base_path: account.basePath });
}

/** Returns the whole data of a result that is kept, of the service that made it. */
export function readKeptResult(target: Target): StatusData | undefined {
  const text = target.account.history?.results.read(findService(target), target.requestId);
  return readJsonPath(text ?? "") as StatusData | undefined;
}

/** Finds the first place where a result breaks its schema; undefined if it fits. Without a path, the check exceeded its limits. */
export async function checkResult(
  { exact }: Pick<Result, "exact">,
  schema: JsonSchema,
  { signal }: CallOptions = {},
): Promise<Problem | undefined> {
  const { checkValue } = await import("../../core/json-schema/check.js");
  return checkValue(schema, stringifyExact(exact), signal);
}

/**
 * Returns why a request that ended has no result, in the service's words if it has any by `end` (monotonic ms). Rejects
 * with `signal.reason` only.
 */
export async function explainNoResult(
  target: Target,
  status: "FAILED" | "STOPPED",
  limits: FetchLimits = {},
): Promise<ResearchError> {
  const { requestId, account } = target;
  const end = endOf(target);
  if (end?.status === status) return account.client.createNoOutputError(end, requestId);
  if (status === "FAILED") {
    try {
      await waitForDone(target, limits, (signal) => account.client.output(requestId, { signal }));
    } catch (error) {
      limits.signal?.throwIfAborted();
      keepReason(target, error);
      if (error instanceof NoOutputError && error.status === status) return error;
    }
  }
  return new ResearchError(`RESEARCH_${status}`, `${requestId} ended ${status}, so it has no output`, {
    requestId,
  });
}

/** Keeps the reason why a request failed, which the interface reports only in the response to a result's fetch. */
function keepReason(target: Target, error: unknown): void {
  if (!(error instanceof NoOutputError) || error.status !== "FAILED") return;
  observe(target, error.data ?? { status: "FAILED", message: error.refusal.message });
}
