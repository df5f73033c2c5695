import type { CallOptions } from "../client/client.js";
import { NoOutputError, type ResearchError } from "../client/errors.js";
import { exactJson, type JsonText, memberText } from "../json/exact-json.js";
import type { Problem } from "../json-schema/check.js";
import type { JsonSchema } from "../protocol/conversation.js";
import type { Data } from "../protocol/data.js";
import { NoResultError } from "./errors.js";
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
  { client, outputField, origin }: Pick<Ports, "client" | "outputField" | "origin">,
  target: Target,
  options: CallOptions = {},
): Promise<Result> {
  const data = await client.output(target.requestId, options).catch((error: unknown) => {
    throw withItsOrigin(error, target, origin);
  });
  const value = Object.hasOwn(data, outputField) ? data[outputField] : data;
  return { data, value, exact: memberText(data, outputField) ?? data };
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
