import type { Clock } from "../../clock.js";
import type { ConversationStore } from "./conversation-store.js";

/** The least and the most time between two deletions, ms. */
const SHORTEST_MS = 100;
const LONGEST_MS = 60_000;

/** Deletes conversations that ended more than `keepMs` ago, again and again, until `signal` is aborted. */
export async function deleteOldConversations(
  store: Pick<ConversationStore, "deleteEnded">,
  keepMs: number,
  clock: Clock,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const interval = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, keepMs / 10));
  while (!signal.aborted) {
    try {
      await store.deleteEnded(keepMs);
    } catch (error) {
      log(`old conversations could not be deleted: ${error instanceof Error ? error.message : error}`);
    }
    try {
      await clock.sleep(interval, signal);
    } catch {
      return;
    }
  }
}
