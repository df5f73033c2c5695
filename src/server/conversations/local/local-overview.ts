import type { Clock } from "../../../core/clock.js";
import { parseExact } from "../../../core/json/exact-json.js";
import type { ResearchJob } from "../../../core/researcher.js";
import { computeKeyUse } from "../budget-rules.js";
import type { KeyFigures, LimitedKey, ListedConversation, Overview } from "../conversation-store.js";
import type { ContentStore } from "./content-store.js";
import { sumSpent } from "./key-figures.js";
import type { LocalState, StoredConversation } from "./local-state.js";

/** Reads the local store's data for the page. `figures` computes what a key has used. */
export function createLocalOverview(parts: {
  clock: Clock;
  contents: ContentStore;
  state: LocalState;
  figures: (key: LimitedKey) => KeyFigures;
}): Overview {
  const { clock, contents, state, figures } = parts;
  const toListed = (row: StoredConversation): ListedConversation => ({ ...row, keyId: row.key });
  return {
    async countStates() {
      const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
      for (const { status } of state.rows.values()) states[status] += 1;
      return states;
    },
    async listNewest(limit, status) {
      // The rows are in the order of their creation.
      const rows = [...state.rows.values()]
        .filter((row) => status === undefined || row.status === status)
        .slice(-limit);
      return { at: clock.now(), conversations: rows.reverse().map(toListed) };
    },
    async find(requestId) {
      const row = state.rows.get(requestId);
      return row && { at: clock.now(), conversation: toListed(row) };
    },
    async findJob(requestId) {
      const row = state.rows.get(requestId);
      if (row === undefined || row.job !== undefined) return row?.job;
      const kept = await contents.read("ended-jobs", requestId).catch(() => "null");
      return (parseExact(kept, "output_schema") as ResearchJob | null) ?? undefined;
    },
    ...createUsageReader(state, clock, figures),
  };
}

/** Creates those methods of the overview that are about spending and usage, and need no contents. */
export function createUsageReader(
  state: LocalState,
  clock: Clock,
  figuresOf: (key: LimitedKey) => KeyFigures,
): Pick<Overview, "listSpent" | "use"> {
  return {
    listSpent: async (by, sinceMs = Number.POSITIVE_INFINITY) => sumSpent(state, by, clock.now() - sinceMs),
    async use(keys) {
      const at = clock.now();
      const uses = keys.map((key) => {
        return computeKeyUse(key, { at, hours: state.listHoursOf(key, at), figures: figuresOf(key) });
      });
      return { at, uses };
    },
  };
}
