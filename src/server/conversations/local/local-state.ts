import { isFinal } from "../../../core/protocol/conversation.js";
import {
  DAY_MS,
  filterAttemptsInWindow,
  findNextAllowedTime,
  type HourlyLimit,
  WINDOW_MS,
} from "../../../core/protocol/rate-limits.js";
import type { ResearchJob } from "../../../core/researcher.js";
import type { Bill, Conversation, DayLimit, KeyUse, LimitedKey } from "../conversation-store.js";
import type { GateEntry, JournalEntry, RemoteEntry, SentEntry } from "./journal-entries.js";

/** A request that counts in the hour of a key (§8). `at`: epoch ms. */
export interface Count {
  operation: keyof HourlyLimit;
  key: string;
  at: number;
}

/** A conversation as the local store keeps it. */
export interface StoredConversation extends Conversation {
  /** The id of the key that owns the conversation. */
  key: string;
  /** Epoch ms at which the conversation first became PROCESSING. */
  startedAt?: number | undefined;
  /** The cost that the outcome reported; before the outcome, only the model. */
  bill: Bill;
  /** The job; undefined once the conversation has ended. */
  job?: ResearchJob;
  /** The conversation's request at the upstream service. */
  remote?: RemoteEntry;
}

/** The local store's state in memory, which results from applying the journal's entries. */
export class LocalState {
  readonly rows = new Map<string, StoredConversation>();
  /** Ids of conversations whose request has to be stopped at the upstream service. */
  readonly cancellations = new Set<string>();
  /** The conversations of each key, including deleted ones. */
  readonly bills = new Map<string, StoredConversation[]>();
  /** The highest cost of a conversation with each model, in dollars; "" is an unknown model. */
  readonly #prices = new Map<string, number>();
  /** Number of ended conversations without a reported cost, by model. */
  readonly unpriced = new Map<string, number>();
  /** Times (epoch ms) of requests that may count in an hour, by the name that `buildName` returns. */
  readonly #times = new Map<string, number[]>();
  gate: GateEntry | undefined;
  /** The create calls at the upstream service in the last 24 hours, by conversation. */
  readonly sent = new Map<string, SentEntry>();
  /** Counted requests whose entries have not been written yet. */
  readonly unwritten = new Set<Count>();

  /** Counts a request before its entry is written. Returns the ms to wait, and counts nothing, if the hour is full. */
  take(count: Count, limit: number): { retryAfterMs: number } | undefined {
    if (limit !== Number.POSITIVE_INFINITY) {
      const times = this.#getHour(buildName(count), count.at);
      const left = findNextAllowedTime(times, limit, count.at) - count.at;
      if (left > 0) return { retryAfterMs: Math.min(WINDOW_MS, left) };
      times.push(count.at);
    }
    this.unwritten.add(count);
    return undefined;
  }

  /** Removes the count of a request whose entry could not be written. */
  release(count: Count): void {
    const times = this.#times.get(buildName(count)) ?? [];
    if (this.unwritten.delete(count) && times.includes(count.at))
      times.splice(times.lastIndexOf(count.at), 1);
  }

  /** Lists the times (epoch ms, ascending) of the requests that count at `now`, by key and operation. */
  listHours(now: number): { operation: Count["operation"]; keyId: string; times: number[] }[] {
    return [...this.#times.keys()].map((name) => {
      const [operation, keyId] = name.split(" ") as [Count["operation"], string];
      return { operation, keyId, times: this.#getHour(name, now) };
    });
  }

  /** Returns what a key has used of its hourly limits at `now` (epoch ms). */
  listHoursOf({ id: key, limits }: LimitedKey, now: number): Pick<KeyUse, "create" | "stop"> {
    const countHour = (operation: Count["operation"]) => {
      const times = this.#getHour(buildName({ operation, key }), now);
      const nextAt = findNextAllowedTime(times, limits[operation], now);
      return { used: times.length, nextAt: nextAt > now ? nextAt : undefined };
    };
    return { create: countHour("create"), stop: countHour("stop") };
  }

  /** Returns the times that count at `now`. A time in the future counts as now, because the clock may have been set back. */
  #getHour(name: string, now: number): number[] {
    const times = filterAttemptsInWindow(this.#times.get(name) ?? [], now).map((at) => Math.min(at, now));
    this.#times.set(name, times);
    return times;
  }

  /** Applies an entry that the journal has written. */
  apply(entry: JournalEntry): void {
    const requestId =
      entry.kind === "created" ? entry.job.request_id : "request_id" in entry ? entry.request_id : "";
    const row = this.rows.get(requestId);
    if (entry.kind === "created") {
      const { job, key, at: createdAt, model } = entry;
      if (row === undefined)
        this.#add({ requestId, key, createdAt, status: "PENDING", job, bill: { model } });
    } else if (entry.kind === "finished") {
      const { key, at: createdAt, deleted } = entry;
      const finished = this.#add({ requestId, key, createdAt, ...parseEndEntry(entry) });
      this.#addPrice(finished);
      if (deleted) this.rows.delete(requestId);
    } else if (entry.kind === "ended" && row !== undefined && !isFinal(row.status)) {
      Object.assign(row, parseEndEntry(entry));
      this.#addPrice(row);
      delete row.job;
    } else if (entry.kind === "begun" && row !== undefined && !isFinal(row.status)) {
      row.status = "PROCESSING";
      row.startedAt ??= entry.at;
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

  /** Returns the highest cost of a model in dollars; of all models if `model` is undefined. Undefined if no cost is known. */
  priceOf(model: string | undefined): number | undefined {
    const prices = [...this.#prices].flatMap(([name, price]) => (name === (model ?? name) ? [price] : []));
    return prices.length === 0 ? undefined : Math.max(...prices);
  }

  /** Returns the ms until the account may send another create call; 0 or less if it may send one now. */
  computeFullMs({ account, most }: DayLimit, now: number): number {
    for (const [requestId, { at }] of this.sent) if (at <= now - DAY_MS) this.sent.delete(requestId);
    const creates = [...this.sent.values()].filter((create) => create.account === account);
    const times = creates.map(({ at }) => at);
    return findNextAllowedTime(times, most, now, DAY_MS) - now;
  }

  #add(row: StoredConversation): StoredConversation {
    this.rows.set(row.requestId, row);
    const bills = this.bills.get(row.key) ?? [];
    bills.push(row);
    this.bills.set(row.key, bills);
    return row;
  }

  #addPrice({ bill: { model = "", dollars }, status, remote }: StoredConversation): void {
    if (dollars !== undefined) this.#prices.set(model, Math.max(dollars, this.#prices.get(model) ?? 0));
    else if (status !== "STOPPED" && (remote === undefined || remote.remote_id !== undefined))
      this.unpriced.set(model, (this.unpriced.get(model) ?? 0) + 1);
  }

  /** Applies an entry of a journal that is being opened at `now` (epoch ms). */
  restore(entry: JournalEntry, now: number): void {
    const { kind } = entry;
    if ((kind === "counted" || kind === "created" || kind === "finished") && entry.at > now - WINDOW_MS) {
      const name = buildName({ operation: "create", ...entry });
      const times = this.#times.get(name);
      if (times) times.push(entry.at);
      else this.#times.set(name, [entry.at]);
    }
    // An earlier process began this conversation, so this process has to begin it again.
    if (kind !== "begun") this.apply(entry);
  }

  /** Yields the entries of a compacted journal: one or a few for each conversation, and the stops that count. */
  *listKept(now: number): Generator<JournalEntry> {
    for (const row of this.rows.values()) {
      const { requestId: request_id, key, createdAt: at, job, reason } = row;
      if (job !== undefined) {
        yield { kind: "created", job, key, at, model: row.bill.model };
        if (reason !== undefined) yield { kind: "released", request_id, reason };
        if (row.startedAt !== undefined) yield { kind: "begun", request_id, at: row.startedAt };
      } else yield* listFinishedEntries(row);
      if (row.remote !== undefined) yield row.remote;
    }
    for (const row of [...this.bills.values()].flat())
      if (!this.rows.has(row.requestId)) yield* listFinishedEntries(row, true);
    if (this.gate !== undefined) yield this.gate;
    for (const sent of this.sent.values()) if (sent.at > now - DAY_MS) yield sent;
    // A create call counts by its own line. Copy the unwritten counts first, because requests may arrive between two lines.
    const unwritten = [...this.unwritten].map((count) => `${buildName(count)} ${count.at}`);
    for (const { operation, keyId: key, times } of this.listHours(now))
      for (const at of operation === "stop" ? times : []) {
        const index = unwritten.indexOf(`stop ${key} ${at}`);
        if (index === -1) yield { kind: "counted", operation, key, at };
        else unwritten.splice(index, 1);
      }
  }
}

/** Returns the name under which requests count together. */
const buildName = ({ operation, key }: Omit<Count, "at">) => `${operation} ${key}`;

function parseEndEntry(entry: Extract<JournalEntry, { kind: "ended" | "finished" }>) {
  const { status, started_at: startedAt, ended_at: endedAt, reason, model } = entry;
  const { cost_dollars: dollars, input_tokens: inputTokens, output_tokens: outputTokens } = entry;
  return { status, startedAt, endedAt, reason, bill: { model, dollars, inputTokens, outputTokens } };
}

function* listFinishedEntries(row: StoredConversation, isDeleted?: true): Generator<JournalEntry> {
  const { requestId: request_id, key, createdAt: at, status, startedAt: started_at, reason, bill } = row;
  if (!isFinal(status)) return;
  const end = {
    request_id,
    status,
    started_at,
    ended_at: row.endedAt ?? at,
    reason,
    ...buildBillEntry(bill),
  };
  yield { kind: "finished", key, at, ...end, ...(isDeleted && { deleted: isDeleted }) };
}

/** Converts a bill to the fields of an `ended` entry. */
export function buildBillEntry({ model, dollars, inputTokens, outputTokens }: Bill) {
  return { model, cost_dollars: dollars, input_tokens: inputTokens, output_tokens: outputTokens };
}
