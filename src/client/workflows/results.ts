import { runWithDeadline } from "../../core/clock.js";
import { findMemberText, type JsonText, readJsonPath, stringifyExact } from "../../core/json/exact-json.js";
import type { Problem } from "../../core/json-schema/check.js";
import { type Data, isFinal, type JsonSchema } from "../../core/protocol/conversation.js";
import type { CallOptions, StatusData } from "../calls/client.js";
import { NoOutputError, ResearchError } from "../calls/errors.js";
import { isCutShort } from "../dialects/providers.js";
import { getService } from "../store/history/records.js";
import type { Account } from "./account.js";
import {
  addOrigin,
  findRecordedAt,
  isAt,
  observe,
  parseAsAsked,
  type ReachableAccount,
  type Target,
} from "./requests.js";

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
  account: ReachableAccount & Pick<Account, "outputField" | "clock">,
  target: Target,
  { partial = false, schema, ...limits }: FetchResultOptions = {},
): Promise<Result> {
  const { outputField } = account;
  const { requestId, entry } = target;
  const kept = endOf(account, target);
  if (kept && kept.status !== "COMPLETED" && !(partial && isCutShort(kept)))
    throw NoOutputError.of(kept, requestId);
  const ask = (signal: AbortSignal) =>
    account.client.output(requestId, { signal, partial, recordedAt: findRecordedAt(target, account) });
  const answer =
    kept ??
    (await waitForDone(account, requestId, limits, ask).catch((error: unknown) => {
      keepReason(account, error);
      throw addOrigin(error, target, account);
    }));
  // The result has arrived, so a failure to record the end is not an error.
  const state = isFinal(String(answer.status)) ? answer : { status: "COMPLETED" };
  if (kept?.status !== entry?.status || !kept) observe(account, entry, state as StatusData);
  return readResult(answer, outputField, schema ?? entry?.output_schema);
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
  { clock }: Pick<Account, "clock">,
  requestId: string,
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
export function endOf(
  account: Pick<Account, "history" | "origin" | "basePath" | "provider">,
  target: Target,
): StatusData | undefined {
  const { end } = target;
  const isWhole =
    end?.provider_status !== undefined && (end.output !== undefined || end.status !== "COMPLETED");
  return isWhole ? end : (readKeptResult(account, target) ?? findRecordedEnd(account, target));
}

/** Returns the recorded end of a request that has no result anywhere. The interface is asked for the reason instead. */
function findRecordedEnd(
  { origin, basePath, provider }: Pick<Account, "origin" | "basePath" | "provider">,
  { requestId, entry }: Target,
): StatusData | undefined {
  if (!provider || !entry || !isAt(entry, { origin, basePath })) return undefined;
  const { status, cut_short, message } = entry;
  const hasEnded = status === "STOPPED" || (status === "FAILED" && !cut_short);
  return hasEnded
    ? { request_id: requestId, status, ...(message !== undefined && { error: message }) }
    : undefined;
}

/** Returns the whole data of a result that is kept, of the service that made it. */
export function readKeptResult(
  { history, origin, basePath }: Pick<Account, "history" | "origin" | "basePath">,
  { requestId, entry }: Target,
): StatusData | undefined {
  const text = history?.results.read(getService(entry ?? { origin, base_path: basePath }), requestId);
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
  account: ReachableAccount & Pick<Account, "clock">,
  target: Target,
  status: "FAILED" | "STOPPED",
  limits: FetchLimits = {},
): Promise<ResearchError> {
  const { requestId } = target;
  const end = endOf(account, target);
  if (end?.status === status) return account.client.createNoOutputError(end, requestId);
  if (status === "FAILED") {
    try {
      await waitForDone(account, requestId, limits, (signal) => account.client.output(requestId, { signal }));
    } catch (error) {
      limits.signal?.throwIfAborted();
      keepReason(account, error);
      if (error instanceof NoOutputError && error.status === status) return error;
    }
  }
  return new ResearchError(`RESEARCH_${status}`, `${requestId} ended ${status}, so it has no output`, {
    requestId,
  });
}

/** Keeps the reason why a request failed, which the interface reports only in the response to a result's fetch. */
function keepReason(account: ReachableAccount, error: unknown): void {
  if (!(error instanceof NoOutputError) || error.status !== "FAILED") return;
  const [entry] = account.history?.find(error.requestId ?? "") ?? [];
  observe(account, entry, error.data ?? { status: "FAILED", message: error.refusal.message });
}
