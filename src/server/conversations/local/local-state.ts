import { isFinal, type KnownStatus } from "../../../ground/protocol/conversation.js";
import type { ResearchJob } from "../../../ground/researcher.js";
import { type Bill, type Conversation, DAY_MS, type DayLimit } from "../conversation-store.js";
import { type Count, HourlyWindows } from "./hourly-windows.js";
import type { Entry, GateEntry, RemoteEntry, SentEntry } from "./journal-entries.js";

/** A conversation as the local store holds it. */
export interface StoredConversation extends Conversation {
  /** The id of the key it belongs to. */
  key: string;
  status: KnownStatus;
  /** When it was PROCESSING first, epoch ms. */
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  reason?: string | undefined;
  /** What it cost, as far as its outcome says so; before, the model that does it. */
  bill: Bill;
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
  /** By key: its conversations, those included that were deleted since. */
  readonly bills = new Map<string, StoredConversation[]>();
  /** The highest cost that a conversation of each model had, in dollars; "" where the model is not known. */
  readonly #prices = new Map<string, number>();
  readonly windows = new HourlyWindows();
  gate: GateEntry | undefined;
  /** Creates at another service in the last 24 hours, by their conversation. */
  readonly sent = new Map<string, SentEntry>();
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
      const { job, key, at: createdAt, model } = entry;
      if (row === undefined)
        this.#add({ requestId, key, createdAt, status: "PENDING", job, bill: { model } });
    } else if (entry.kind === "finished") {
      const { key, at: createdAt, deleted } = entry;
      const finished = this.#add({ requestId, key, createdAt, ...endOf(entry) });
      this.#priced(finished);
      if (deleted) this.rows.delete(requestId);
    } else if (entry.kind === "ended" && row !== undefined && !isFinal(row.status)) {
      Object.assign(row, endOf(entry));
      this.#priced(row);
      delete row.job;
    } else if (entry.kind === "remote" && row !== undefined) {
      row.remote = entry;
      if (entry.remote_id !== undefined && !isFinal(row.status))
        Object.assign(row, { status: "PROCESSING", reason: undefined });
      if (entry.cancel) this.cancellations.add(requestId);
      else this.cancellations.delete(requestId);
    } else if (entry.kind === "sent") this.sent.set(requestId, entry);
    else if (entry.kind === "unsent") this.sent.delete(requestId);
    else if (entry.kind === "released" && row !== undefined) {
      this.sent.delete(requestId);
      delete row.remote;
      if (!isFinal(row.status)) row.reason = entry.reason ?? row.reason;
    } else if (entry.kind === "gate") this.gate = entry;
    else if (entry.kind === "deleted") {
      this.rows.delete(requestId);
      delete row?.reason;
    }
  }

  /** The times of the creates of a key that are just being written. */
  unwrittenCreates(key: string): number[] {
    const own = [...this.#unwritten].filter((one) => one.operation === "create" && one.key === key);
    return own.map(({ at }) => at);
  }

  /** The highest cost of a model, in dollars; of any if the model is not known. */
  priceOf(model: string | undefined): number {
    if (model !== undefined) return this.#prices.get(model) ?? 0;
    return Math.max(0, ...this.#prices.values());
  }

  /** How long until another create of the account may be sent, ms; 0 or less if it is now. */
  fullMs({ account, most }: DayLimit, now: number): number {
    for (const [requestId, { at }] of this.sent) if (at <= now - DAY_MS) this.sent.delete(requestId);
    const times = [...this.sent.values()].flatMap((one) => (one.account === account ? [one.at] : []));
    const leaves = times.sort((a, b) => b - a)[most - 1];
    return leaves === undefined ? 0 : leaves + DAY_MS - now;
  }

  #add(row: StoredConversation): StoredConversation {
    this.rows.set(row.requestId, row);
    const bills = this.bills.get(row.key) ?? [];
    bills.push(row);
    this.bills.set(row.key, bills);
    return row;
  }

  #priced({ bill: { model = "", dollars = 0 } }: StoredConversation): void {
    if (dollars > (this.#prices.get(model) ?? 0)) this.#prices.set(model, dollars);
  }

  /** Takes in an entry of a journal that is being opened at `now` (epoch ms). */
  restore(entry: Entry, now: number): void {
    const { kind } = entry;
    if (kind === "counted") this.windows.restore(entry, now);
    if (kind === "created" || kind === "finished")
      this.windows.restore({ ...entry, operation: "create" }, now);
    this.apply(entry);
  }

  /** What a compacted journal holds: a line for each conversation, and the stops that count. */
  *kept(now: number): Generator<Entry> {
    for (const row of this.rows.values()) {
      const { requestId: request_id, key, createdAt: at, job, reason } = row;
      if (job !== undefined) {
        yield { kind: "created", job, key, at, model: row.bill.model };
        if (reason !== undefined) yield { kind: "released", request_id, reason };
      } else yield* finishedOf(row);
      if (row.remote !== undefined) yield row.remote;
    }
    for (const row of [...this.bills.values()].flat())
      if (!this.rows.has(row.requestId)) yield* finishedOf(row, true);
    if (this.gate !== undefined) yield this.gate;
    for (const sent of this.sent.values()) if (sent.at > now - DAY_MS) yield sent;
    // A create counts by its own line. Requests may come in between two lines: what counts is taken at once.
    const isStop = ({ operation }: Count) => operation === "stop";
    const unwritten = [...this.#unwritten].filter(isStop).map(({ key, at }) => `${key} ${at}`);
    for (const count of [...this.windows.counts(now)].filter(isStop)) {
      const index = unwritten.indexOf(`${count.key} ${count.at}`);
      if (index === -1) yield { kind: "counted", ...count };
      else unwritten.splice(index, 1);
    }
  }
}

function endOf(entry: Extract<Entry, { kind: "ended" | "finished" }>) {
  const { status, started_at: startedAt, ended_at: endedAt, reason, model } = entry;
  const { cost_dollars: dollars, input_tokens: inputTokens, output_tokens: outputTokens } = entry;
  return { status, startedAt, endedAt, reason, bill: { model, dollars, inputTokens, outputTokens } };
}

function* finishedOf(row: StoredConversation, isDeleted?: true): Generator<Entry> {
  const { requestId: request_id, key, createdAt: at, status, startedAt: started_at, reason, bill } = row;
  if (!isFinal(status)) return;
  const end = { request_id, status, started_at, ended_at: row.endedAt ?? at, reason, ...entryOfBill(bill) };
  yield { kind: "finished", key, at, ...end, ...(isDeleted && { deleted: isDeleted }) };
}

/** A bill as the entry of an end has it. */
export function entryOfBill({ model, dollars, inputTokens, outputTokens }: Bill) {
  return { model, cost_dollars: dollars, input_tokens: inputTokens, output_tokens: outputTokens };
}
