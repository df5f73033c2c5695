import type { Clock } from "../../../core/clock.js";
import { parseExact } from "../../../core/json/exact-json.js";
import type { ResearchJob } from "../../../core/researcher.js";
import type { ListedConversation, Overview } from "../conversation-store.js";
import { spentIn } from "./budgets.js";
import type { Contents } from "./contents.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** What the page of the service sees. */
export function overviewOf(parts: { clock: Clock; contents: Contents; state: LocalState }): Overview {
  const { clock, contents, state } = parts;
  const listed = (row: StoredConversation): ListedConversation => ({ ...row, keyId: row.key });
  return {
    async states() {
      const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
      for (const { status } of state.rows.values()) states[status] += 1;
      return states;
    },
    async newest(limit, status) {
      // The rows stand in the order in which they were created.
      const rows = [...state.rows.values()]
        .filter((row) => status === undefined || row.status === status)
        .slice(-limit);
      return { at: clock.now(), conversations: rows.reverse().map(listed) };
    },
    async find(requestId) {
      const row = state.rows.get(requestId);
      return row && { at: clock.now(), conversation: listed(row) };
    },
    async job(requestId) {
      const row = state.rows.get(requestId);
      if (row === undefined || row.job !== undefined) return row?.job;
      const kept = await contents.read("ended-jobs", requestId).catch(() => "null");
      return (parseExact(kept, "output_schema") as ResearchJob | null) ?? undefined;
    },
    async hours() {
      const at = clock.now();
      return { at, counts: state.hours(at) };
    },
    spent: async (by, sinceMs = Number.POSITIVE_INFINITY) => spentIn(state, by, clock.now() - sinceMs),
  };
}
