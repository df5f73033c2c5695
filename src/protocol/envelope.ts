import * as v from "valibot";
import type { Data } from "./conversation.js";
import { isRequestId } from "./conversation.js";

/** §2. `version` is not asked for: a paid answer without it must not become an unknown outcome. */
const success = v.looseObject({ status: v.literal(true), data: v.looseObject({}) });
const failure = v.looseObject({
  status: v.literal(false),
  error: v.looseObject({ message: v.optional(v.string(), ""), code: v.string() }),
});

export interface ServiceFault {
  code: string;
  message: string;
}
export type Envelope = { ok: true; data: Data } | { ok: false; error: ServiceFault };

/** Reads a parsed body as an envelope; undefined if it is not an envelope. */
export function readEnvelope(body: unknown): Envelope | undefined {
  const good = v.safeParse(success, body);
  if (good.success) return { ok: true, data: good.output.data };
  const bad = v.safeParse(failure, body);
  if (bad.success) return { ok: false, error: bad.output.error };
  return undefined;
}

const requestId = v.pipe(
  v.string(),
  v.check((id: string) => isRequestId(id)),
);

/** §4.1: what create must carry to count; without `status` or `created_at` it is still a request with an id. */
export const createdData = v.looseObject({ request_id: requestId });
/** §4.3: `data.status` is all that is shown of a status answer, so it is all that is required. */
export const statusData = v.looseObject({ status: v.string() });
/** §4.2: every field of a stop answer but `status` is for people. */
export const stopData = v.looseObject({ status: v.string() });
/** §4.4: the payload is not shown; whatever `data` holds is the output. */
export const outputData = v.looseObject({});

/** §7: the error codes that the interface shows, with the HTTP status each comes with. */
export const SERVICE_CODES = {
  VALIDATION_ERROR: 400,
  INVALID_API_KEY: 401,
  RATE_LIMIT_EXCEEDED: 429,
  REQUEST_NOT_FOUND: 404,
  CONVERSATION_ALREADY_COMPLETED: 400,
} as const;

/** §9: the version that stands in every path, and the one the local service states in its envelopes. */
export const API_VERSION = "1.0.0";
