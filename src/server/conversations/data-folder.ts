import { promises as fs } from "node:fs";
import { join } from "node:path";
import { HeldError, lock } from "../../lock.js";
import { ServiceStartError } from "../start-error.js";
import type { Conversation, Conversations } from "./conversations.js";
import { type Entry, type Journal, noJournal } from "./journal.js";
import { openJournal } from "./journal-file.js";
import type { RateLimiter } from "./rate-limiter.js";

/** The service's memory: on disk where there is a data folder, else of this process only. */
export interface Data {
  journal: Journal;
  /** What was there already, oldest first. */
  entries: readonly Entry[];
  close(): Promise<void>;
}

/** Opens a data folder for this process alone. Rejects with a ServiceStartError. */
export async function openData(dataDir: string | undefined, log: (line: string) => void): Promise<Data> {
  if (dataDir === undefined) return { journal: noJournal, entries: [], close: async () => {} };
  try {
    await fs.mkdir(dataDir, { recursive: true, mode: 0o700 });
    const unlock = lock(join(dataDir, "lock"));
    try {
      const { journal, entries, skipped } = await openJournal(dataDir);
      if (skipped > 0) log(`${skipped} unreadable lines of the journal were skipped`);
      return { journal, entries, close: () => journal.close().finally(unlock) };
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    if (error instanceof ServiceStartError) throw error;
    if (error instanceof HeldError) {
      const message = `The data folder ${dataDir} is held by process ${error.pid}.`;
      throw new ServiceStartError("DATA_HELD", message, { cause: error });
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new ServiceStartError("DATA_UNUSABLE", `The data folder ${dataDir} cannot be used: ${why}`, {
      cause: error,
    });
  }
}

/** Puts back what the entries tell, and returns the conversations that are to be done again, oldest first. */
export function restore(
  entries: readonly Entry[],
  conversations: Conversations,
  rateLimiter: RateLimiter,
): Conversation[] {
  const found = new Map<string, Conversation>();
  for (const entry of entries) {
    if (entry.kind === "counted") rateLimiter.restore(entry.operation, entry.key, entry.at);
    else if (entry.kind === "created") {
      const { job, created_at, key, at } = entry;
      rateLimiter.restore("create", key, at);
      const { request_id } = job;
      found.set(request_id, conversations.restore({ request_id, created_at, status: "PENDING", job }));
    } else if (entry.kind === "ended") {
      const { kind: _, request_id, ...ending } = entry;
      const conversation = found.get(request_id);
      if (conversation === undefined) continue;
      Object.assign(conversation, ending);
      delete conversation.job;
      found.delete(request_id);
    }
  }
  return [...found.values()];
}
