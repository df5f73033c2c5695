import { epochOf } from "../../../clock.js";
import { isFinal, type KnownStatus } from "../../../protocol/conversation.js";
import { WINDOW_MS } from "../../../protocol/limits.js";
import type { Conversation } from "../conversation.js";
import { type Count, HourlyWindows } from "./hourly-limits/hourly-windows.js";
import type { Kept } from "./journal/compaction.js";
import type { Entry, RemoteEntry } from "./journal/entries.js";
import type { Line } from "./journal/journal.js";

/** A conversation as the local store holds it: all but its prompt and its output. */
export interface Row extends Conversation {
  /** The id of the key it belongs to. */
  key: string;
  status: KnownStatus;
  /** When it was PROCESSING first, epoch ms. */
  startedAt?: number;
  endedAt?: number;
  reason?: string;
  /** Its request at another service. */
  remote?: RemoteEntry;
  /** The place of its job, until it has ended; then, of an output that version 0.1 wrote into the journal. */
  line?: Line;
}

/** About what an ended conversation takes in the journal, bytes. */
const ENDED_BYTES = 200;

/** What the local store holds in memory, and how it follows from the journal's entries. */
export class LocalState {
  readonly rows = new Map<string, Row>();
  /** Whose request at another service is to be stopped there. */
  readonly cancellations = new Set<string>();
  readonly #windows = new HourlyWindows();
  /** Counts of requests whose entries are still to be written. */
  readonly #unwritten = new Set<Count>();

  /** Counts a request that is about to be written, or says how long it has to wait, ms. */
  take(count: Count, limit: number): { retryAfterMs: number } | undefined {
    const { operation, key, at } = count;
    const limited = this.#windows.take(operation, key, limit, at);
    if (!limited) this.#unwritten.add(count);
    return limited;
  }

  /** The request was written. */
  written(count: Count): void {
    this.#unwritten.delete(count);
  }

  /** The request could not be written, and does not count. */
  release(count: Count): void {
    if (this.#unwritten.delete(count)) this.#windows.release(count);
  }

  /** Takes in an entry that was written, at `line`. Returns how many bytes of the journal it made dead. */
  apply(entry: Entry, line: Line): number {
    switch (entry.kind) {
      case "counted":
        return line.length;
      case "created":
        return this.#created(entry, line);
      case "ended":
        return this.#ended(entry, line);
      case "finished": {
        const { request_id: requestId, key, at: createdAt, status, ended_at: endedAt, reason } = entry;
        const row: Row = { requestId, key, createdAt, status, endedAt };
        if (entry.started_at !== undefined) row.startedAt = entry.started_at;
        if (reason !== undefined) row.reason = reason;
        this.rows.set(requestId, row);
        return 0;
      }
      case "remote":
        return this.#remote(entry, line);
      case "deleted":
        this.rows.delete(entry.request_id);
        return line.length + ENDED_BYTES;
    }
  }

  /** Takes in an entry of a journal that is being opened at `now` (epoch ms). */
  restore(entry: Entry, line: Line, now: number): number {
    if (entry.kind === "counted") this.#windows.restore(entry, now);
    if (entry.kind === "created" || entry.kind === "finished")
      this.#windows.restore({ operation: "create", key: entry.key, at: entry.at }, now);
    return this.apply(entry, line);
  }

  /** The requests that count at `now` (epoch ms), in ascending order for each key and operation. */
  counted(now: number): Iterable<Count> {
    return this.#windows.counts(now);
  }

  /** What a compacted journal holds: a line for each conversation, and counts that no such line implies. */
  *kept(now: number): Generator<Kept> {
    const implied: Count[] = [];
    const remotes: RemoteEntry[] = [];
    for (const row of this.rows.values()) {
      const { requestId: request_id, key, createdAt: at, status, startedAt, endedAt, reason, line } = row;
      const moved = (place: Line) => {
        row.line = place;
      };
      if (isFinal(status)) {
        const ended_at = endedAt ?? at;
        yield {
          entry: {
            kind: "finished",
            request_id,
            key,
            at,
            status,
            ...(startedAt !== undefined && { started_at: startedAt }),
            ended_at,
            ...(reason !== undefined && { reason }),
          },
        };
      }
      if (row.remote !== undefined) remotes.push(row.remote);
      if (at > now - WINDOW_MS) implied.push({ operation: "create", key, at });
      if (line !== undefined) yield { line, moved };
    }
    for (const entry of remotes) yield { entry };
    for (const count of this.#countsBeside(implied, now)) yield { entry: { kind: "counted", ...count } };
  }

  #countsBeside(implied: readonly Count[], now: number): Count[] {
    const name = ({ operation, key, at }: Count) => `${operation} ${key} ${at}`;
    const times = new Map<string, number>();
    for (const count of [...implied, ...this.#unwritten])
      times.set(name(count), (times.get(name(count)) ?? 0) + 1);
    return [...this.#windows.counts(now)].filter((count) => {
      const left = times.get(name(count)) ?? 0;
      if (left > 0) times.set(name(count), left - 1);
      return left === 0;
    });
  }

  #created({ job, key, at }: Extract<Entry, { kind: "created" }>, line: Line): number {
    const requestId = job.request_id;
    if (this.rows.has(requestId)) return line.length;
    this.rows.set(requestId, { requestId, key, createdAt: at, status: "PENDING", line });
    return 0;
  }

  /** A line of `length` is dead as soon as the next one of its conversation is there. */
  #remote(entry: RemoteEntry, { length }: Line): number {
    const row = this.rows.get(entry.request_id);
    if (row === undefined) return length;
    const dead = row.remote === undefined ? 0 : length;
    row.remote = entry;
    if (entry.cancel) this.cancellations.add(entry.request_id);
    else this.cancellations.delete(entry.request_id);
    return dead;
  }

  #ended(entry: Extract<Entry, { kind: "ended" }>, line: Line): number {
    const row = this.rows.get(entry.request_id);
    if (row === undefined) return line.length;
    const inline = entry.status === "COMPLETED" && "output" in entry;
    if (isFinal(row.status)) {
      // A compaction puts an output of version 0.1 behind its conversation.
      if (!inline || row.status !== "COMPLETED" || row.line !== undefined) return line.length;
      row.line = line;
      return 0;
    }
    const dead = row.line?.length ?? 0;
    row.status = entry.status;
    if (entry.started_at !== undefined) row.startedAt = entry.started_at;
    row.endedAt = entry.ended_at ?? epochOf(entry.completed_at) ?? row.createdAt;
    if (entry.reason !== undefined) row.reason = entry.reason;
    if (inline) row.line = line;
    else delete row.line;
    return dead;
  }
}
