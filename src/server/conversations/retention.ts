import type { Clock } from "../../ground/clock.js";
import { formatDuration } from "../../ground/text/duration.js";
import { errorText } from "../../ground/text/phrases.js";
import type { Log } from "../monitoring/log.js";
import type { ConversationStore } from "./conversation-store.js";

/** The least and the most time between two deletions, ms. */
const SHORTEST_MS = 100;
const LONGEST_MS = 60_000;

/** How long a deletion waits that a wrong clock may have caused, ms. */
const SUSPECT_MS = 3_600_000;

/**
 * Deletes conversations that ended more than `keepMs` ago, again and again, until `signal` is aborted. If the first
 * look would delete more than half of all, that is said and waits for an hour: the clock may be wrong.
 */
export async function deleteOldConversations(
  store: Pick<ConversationStore, "countEnded" | "deleteEnded">,
  keepMs: number,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const interval = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, keepMs / 10));
  for (let looked = false; !signal.aborted; ) {
    let waitMs = interval;
    try {
      const { old, all } = looked ? { old: 0, all: 0 } : await store.countEnded(keepMs);
      if (old > all / 2) {
        const now = new Date(clock.now()).toISOString();
        const why = `${old} of ${all} conversations ended more than ${formatDuration(keepMs)} ago if it is ${now}`;
        log(`${why}: they are deleted in an hour, so stop this service if the clock is wrong`, {
          level: "warning",
        });
        waitMs = SUSPECT_MS;
      } else await store.deleteEnded(keepMs);
      looked = true;
    } catch (error) {
      log(`old conversations could not be deleted: ${errorText(error)}`);
    }
    try {
      await clock.sleep(waitMs, signal);
    } catch {
      return;
    }
  }
}
