import type { Clock } from "../../../core/clock.js";
import { stringifyExact } from "../../../core/json/exact-json.js";
import { KeyedMutex } from "../../../core/keyed-mutex.js";
import { parseBill } from "../conversation-store.js";
import type { ContentStore } from "./content-store.js";
import type { Journal } from "./journal.js";
import type { JournalEntry } from "./journal-entries.js";
import { buildBillEntry, type Count, type LocalState, type StoredConversation } from "./local-state.js";

/** Writes changes of conversations, first to the journal and then to the state. */
export class JournalWriter {
  /** Runs one change of a conversation at a time, so that the state that the change has checked is still true when it writes. */
  readonly changes = new KeyedMutex();
  constructor(
    private readonly parts: { journal: Journal; contents: ContentStore; state: LocalState; clock: Clock },
  ) {}

  /** Writes entries, then applies them. `count`: the request that they count; it does not count if the write fails. */
  async append(entries: JournalEntry[], count?: Count): Promise<void> {
    const { journal, state } = this.parts;
    const apply = () => {
      if (count) state.unwritten.delete(count);
      for (const entry of entries) state.apply(entry);
    };
    try {
      if (entries.length > 0) await journal.append(entries, apply);
      else apply();
    } catch (error) {
      if (count) state.release(count);
      throw error;
    }
  }

  /** Builds the entry of an end, and stores the job for the page. A failure to store the job is ignored, because the end matters more. */
  async endOf(
    { requestId, startedAt, job, bill }: StoredConversation,
    { status, reason, data }: { status: "COMPLETED" | "FAILED" | "STOPPED"; reason?: string; data?: string },
  ): Promise<JournalEntry> {
    await this.parts.contents.write("ended-jobs", requestId, stringifyExact(job)).catch(() => {});
    const ended_at = this.parts.clock.now();
    const endBill = parseBill(data);
    const cost = buildBillEntry({ ...endBill, model: bill.model ?? endBill.model });
    return { kind: "ended", request_id: requestId, status, started_at: startedAt, ended_at, reason, ...cost };
  }
}
