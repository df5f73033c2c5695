import type { Clock } from "../../core/clock.js";
import { describeError } from "../../core/text/format-text.js";
import type { Log } from "../monitoring/operator-log.js";
import type { ConversationStore } from "./conversation-store.js";

/** Minimum and maximum time between two deletions, in ms. */
const SHORTEST_MS = 100;
const LONGEST_MS = 60_000;

/** Deletes conversations that ended more than `keepMs` ago, repeatedly until `signal` aborts. */
export async function deleteOldConversations(
  store: Pick<ConversationStore, "deleteEnded">,
  keepMs: number,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const interval = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, keepMs / 10));
  while (!signal.aborted) {
    try {
      await store.deleteEnded(keepMs);
    } catch (error) {
      log(`old conversations could not be deleted: ${describeError(error)}`);
    }
    await clock.sleep(interval, signal).catch(() => {});
  }
}
