import type { CallOptions, StatusData } from "../client/client.js";
import { NoOutputError, type ResearchError } from "../client/errors.js";
import { epochOf } from "../clock.js";
import { exactJson, JsonText, memberText, parseExact } from "../json/exact-json.js";
import type { Problem } from "../json-schema/check.js";
import type { Data, JsonSchema } from "../protocol/conversation.js";
import { LocalError } from "../store/errors.js";
import { NoResultError } from "./errors.js";
import { keepResult } from "./observe.js";
import type { Ports } from "./ports.js";
import { type Target, withItsOrigin } from "./targets.js";

/** The output of a COMPLETED request. */
export interface Result {
  /** §4.4, `data` of the answer as the service gave it. */
  data: Data;
  /** The result itself: the output field of `data` if it is there, else all of it. */
  value: unknown;
  /** The same as JSON in the service's own digits and names, which `value` may have lost. */
  exact: JsonText | Data;
}

/**
 * Fetches a result. Rejects with NoOutputError, which names the state, if the service refuses, with any other error
 * of the client, or with `signal.reason`.
 */
export async function fetchResult(
  ports: Pick<Ports, "client" | "outputField" | "origin" | "history">,
  target: Target,
  { signal, partial = false, schema }: ResultOptions = {},
): Promise<Result> {
  const { client, outputField, origin } = ports;
  const { requestId, entry } = target;
  const recordedAt = entry?.origin === origin ? epochOf(entry?.sent_at) : undefined;
  const kept = keptResult(ports, target);
  if (kept && kept.status !== "COMPLETED" && !partial) throw NoOutputError.of(kept, requestId);
  const data =
    kept ??
    (await client.output(requestId, { signal, partial, recordedAt }).catch((error: unknown) => {
      throw withItsOrigin(error, target, origin);
    }));
  if (!kept && entry?.origin === origin) tryToKeep(ports, requestId, data);
  const value = Object.hasOwn(data, outputField) ? data[outputField] : data;
  const exact = memberText(data, outputField) ?? data;
  const parsed = schema && data.provider_status !== undefined ? jsonIn(value) : undefined;
  return parsed ? { data, ...parsed } : { data, value, exact };
}

export interface ResultOptions extends CallOptions {
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
  if (text === undefined) return undefined;
  try {
    return parseExact(text) as StatusData;
  } catch {
    return undefined;
  }
}

/** The result is in hand, so that it cannot be kept ends nothing. */
function tryToKeep(ports: Pick<Ports, "history" | "origin">, requestId: string, data: Data): void {
  try {
    keepResult(ports, requestId, data);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
  }
}

function jsonIn(value: unknown): Pick<Result, "value" | "exact"> | undefined {
  try {
    return typeof value === "string" ? { value: JSON.parse(value), exact: new JsonText(value) } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The first way in which a result does not fit the schema it was asked for; undefined if it fits. A problem without
 * a path says that it could not be checked. The check has limits of time and memory: a schema and a result may be
 * made to exceed any. Rejects with `signal.reason` only.
 */
export async function checkResult(
  { exact }: Pick<Result, "exact">,
  schema: JsonSchema,
  { signal }: CallOptions = {},
): Promise<Problem | undefined> {
  const { checkValue } = await import("../json-schema/check.js");
  return checkValue(schema, exactJson(exact), signal);
}

/**
 * Why a request that ended FAILED or STOPPED has no result: in the service's own words if it gives any. Rejects
 * with `signal.reason` only.
 */
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
