import { isFinal, type KnownStatus } from "../../../protocol/conversation.js";
import { WINDOW_MS } from "../../../protocol/limits.js";
import type { ResearchJob } from "../../researchers/researcher.js";
import type { Conversation } from "../conversation-store.js";
import { type Count, HourlyWindows } from "./hourly-windows.js";
import type { Entry, RemoteEntry } from "./journal-entries.js";

/** A conversation as the local store holds it. */
export interface StoredConversation extends Conversation {
  /** The id of the key it belongs to. */
  key: string;
  status: KnownStatus;
  /** When it was PROCESSING first, epoch ms. */
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  reason?: string | undefined;
  /** What it cost, if its outcome says so. */
  costDollars?: number | undefined;
  /** Until it has ended. */
  job?: ResearchJob;
  /** Its request at another service. */
  remote?: RemoteEntry;
}

/** What the local store holds in memory, and how it follows from the journal's entries. */
export class LocalState {
  readonly rows = new Map<string, StoredConversation>();
  /** Whose request at another service is to be stopped there. */
  readonly cancellations = new Set<string>();
  readonly windows = new HourlyWindows();
  /** Counts of requests whose entries are still to be written. */
  readonly #unwritten = new Set<Count>();

  /** Counts a request that is about to be written, or says how long it has to wait, ms. */
  take(count: Count, limit: number): { retryAfterMs: number } | undefined {
    const limited = this.windows.take(count, limit);
    if (!limited) this.#unwritten.add(count);
    return limited;
  }

  /** The request was written. */
  written(count: Count): void {
    this.#unwritten.delete(count);
  }

  /** The request could not be written, and does not count. */
  release(count: Count): void {
    if (this.#unwritten.delete(count)) this.windows.release(count);
  }

  /** Takes in an entry that was written. */
  apply(entry: Entry): void {
    const requestId =
      entry.kind === "created" ? entry.job.request_id : "request_id" in entry ? entry.request_id : "";
    const row = this.rows.get(requestId);
    if (entry.kind === "created") {
      const { job, key, at: createdAt } = entry;
      if (row === undefined) this.rows.set(requestId, { requestId, key, createdAt, status: "PENDING", job });
    } else if (entry.kind === "finished") {
      const { key, at: createdAt } = entry;
      this.rows.set(requestId, { requestId, key, createdAt, ...endOf(entry) });
    } else if (entry.kind === "ended" && row !== undefined && !isFinal(row.status)) {
      Object.assign(row, endOf(entry));
      delete row.job;
    } else if (entry.kind === "remote" && row !== undefined) {
      row.remote = entry;
      if (entry.cancel) this.cancellations.add(requestId);
      else this.cancellations.delete(requestId);
    } else if (entry.kind === "deleted") this.rows.delete(requestId);
  }

  /** Takes in an entry of a journal that is being opened at `now` (epoch ms). */
  restore(entry: Entry, now: number): void {
    const { kind } = entry;
    if (kind === "counted") this.windows.restore(entry, now);
    if (kind === "created" || kind === "finished")
      this.windows.restore({ ...entry, operation: "create" }, now);
    this.apply(entry);
  }

  /** What a compacted journal holds: a line for each conversation, and counts that no such line implies. */
  *kept(now: number): Generator<Entry> {
    const counted = new Map<string, number>();
    const add = (name: string) => counted.set(name, (counted.get(name) ?? 0) + 1);
    for (const row of this.rows.values()) {
      const { requestId: request_id, key, createdAt: at, status, job } = row;
      if (at > now - WINDOW_MS) add(nameOf({ operation: "create", key, at }));
      if (job !== undefined) yield { kind: "created", job, key, at };
      else if (isFinal(status)) {
        const { startedAt: started_at, endedAt: ended_at = at, reason, costDollars: cost_dollars } = row;
        yield { kind: "finished", request_id, key, at, status, started_at, ended_at, reason, cost_dollars };
      }
      if (row.remote !== undefined) yield row.remote;
    }
    // Requests may come in between two lines: what counts is taken at once.
    for (const count of this.#unwritten) add(nameOf(count));
    for (const count of [...this.windows.counts(now)]) {
      const left = counted.get(nameOf(count)) ?? 0;
      if (left > 0) counted.set(nameOf(count), left - 1);
      else yield { kind: "counted", ...count };
    }
  }
}

function endOf(entry: Extract<Entry, { kind: "ended" | "finished" }>) {
  const { status, started_at: startedAt, ended_at: endedAt, reason, cost_dollars: costDollars } = entry;
  return { status, startedAt, endedAt, reason, costDollars };
}

function nameOf({ operation, key, at }: Count): string {
  return `${operation} ${key} ${at}`;
}
