import type { Unsuccessful } from "../../../../src/client/calls/classify-response.js";
import { type RefusalKind, RefusedError, UnreachableError } from "../../../../src/client/calls/errors.js";
import type { FaultName } from "../../../../src/client/calls/failure-policy.js";
import type { WatchedRequest } from "../../../../src/client/calls/watch/watched-request.js";

/** An id that has been watched since 0 and polled once, at 0; `parts` say what is different. */
export function watched(parts: Partial<WatchedRequest> = {}): WatchedRequest {
  const polled = { polls: 1, failures: 0, startedAt: 0, hadLastPoll: false };
  return {
    requestId: "a",
    status: null,
    since: 0,
    quietSince: 0,
    notBefore: 0,
    ...polled,
    ...parts,
  };
}

/** An exchange that failed; `retryAfter` is in seconds. */
export const fault = (name: FaultName, retryAfter?: number): Unsuccessful => ({
  ...{ kind: "fault", fault: name, sent: true },
  error: new UnreachableError("UNREACHABLE", name, { retryAfter }),
});

/** An exchange that was refused. */
export const refused = (kind: RefusalKind, enveloped = true, facts: object = {}): Unsuccessful => ({
  kind: "refused",
  error: new RefusedError(kind, enveloped, "CODE", "no", facts),
});
