import type { CallOptions, StatusData } from "../client/client.js";
import { NoOutputError, type ResearchError } from "../client/errors.js";
import { exactJson, JsonText, jsonIn, memberText } from "../json/exact-json.js";
import type { Problem } from "../json-schema/check.js";
import type { Data, JsonSchema } from "../protocol/conversation.js";
import { localErrorOf } from "../store/files.js";
import { NoResultError } from "./errors.js";
import type { Ports } from "./ports.js";
import { keepResult, recordedAt, type Target, withItsOrigin } from "./requests.js";

/** The output of a COMPLETED request. */
export interface Result {
  /** §4.4, `data` of the answer as the service gave it. */
  data: Data;
  /** The result itself: the output field of `data` if it is there, else all of it. */
  value: unknown;
  /** The same as JSON in the service's own digits and names, which `value` may have lost. */
  exact: JsonText | Data;
}

/** Fetches a result. Rejects with NoOutputError for another state, any other error of the client, or `signal.reason`. */
export async function fetchResult(
  ports: Pick<Ports, "client" | "outputField" | "origin" | "history">,
  target: Target,
  { signal, partial = false, schema }: FetchResultOptions = {},
): Promise<Result> {
  const { client, outputField, origin } = ports;
  const { requestId, entry } = target;
  const kept = keptResult(ports, target);
  if (kept && kept.status !== "COMPLETED" && !partial) throw NoOutputError.of(kept, requestId);
  const data =
    kept ??
    (await client
      .output(requestId, { signal, partial, recordedAt: recordedAt(target, origin) })
      .catch((error: unknown) => {
        throw withItsOrigin(error, target, origin);
      }));
  // The result is in hand, so that it cannot be kept ends nothing.
  if (!kept && entry?.origin === origin) localErrorOf(() => keepResult(ports, requestId, data));
  const value = Object.hasOwn(data, outputField) ? data[outputField] : data;
  const exact = memberText(data, outputField) ?? data;
  const text = schema && data.provider_status !== undefined && typeof value === "string" ? value : undefined;
  const parsed = text === undefined ? undefined : jsonIn(text);
  if (text === undefined || parsed === undefined) return { data, value, exact };
  return { data, value: parsed, exact: new JsonText(text) };
}

export interface FetchResultOptions extends CallOptions {
  /** Whether the text of a result that was cut short is taken for one. */
  partial?: boolean | undefined;
  /** What the result was asked for with: a provider's model writes it as text. */
  schema?: JsonSchema | null | undefined;
}

/** The whole data of a result that is kept at the origin in force. */
export function keptResult(
  { history, origin }: Pick<Ports, "history" | "origin">,
  { requestId, entry }: Target,
): StatusData | undefined {
  if (entry && entry.origin !== origin) return undefined;
  const text = history?.results.read(origin, requestId);
  return text === undefined ? undefined : (jsonIn(text) as StatusData | undefined);
}

/** The first misfit of a result, undefined if it fits; without a path it could not be checked within the limits. */
export async function checkResult(
  { exact }: Pick<Result, "exact">,
  schema: JsonSchema,
  { signal }: CallOptions = {},
): Promise<Problem | undefined> {
  const { checkValue } = await import("../json-schema/check.js");
  return checkValue(schema, exactJson(exact), signal);
}

/** Why a request that ended has no result, in the service's words if it has any. Rejects with `signal.reason` only. */
export async function whyNoResult(
  { client }: Pick<Ports, "client">,
  requestId: string,
  status: "FAILED" | "STOPPED",
  { signal }: CallOptions = {},
): Promise<ResearchError> {
  if (status === "FAILED") {
    try {
      await client.output(requestId, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NoOutputError && error.status === status) return error;
    }
  }
  return new NoResultError(requestId, status);
}
