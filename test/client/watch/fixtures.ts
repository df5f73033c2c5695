import type { Watched } from "../../../src/client/watch/types.js";

/** An id that has been watched since 0 and polled once, at 0; `parts` say what is different. */
export function watched(parts: Partial<Watched> = {}): Watched {
  const polled = { polls: 1, failures: 0, startedAt: 0, hadLastPoll: false };
  return {
    requestId: "a",
    status: null,
    since: 0,
    isQueued: true,
    quietSince: 0,
    notBefore: 0,
    ...polled,
    ...parts,
  };
}
