import { DAY_MS } from "../../../core/protocol/limits.js";
import { hourOf, type Leaving, LONG_WINDOW_MS, leavesAt, unitsOf } from "../budget-rules.js";
import type { Spent, SpentBy } from "../conversation-store.js";
import type { SumEntry } from "./journal-entries.js";
import type { StoredConversation } from "./local-state.js";

const COLUMNS = { COMPLETED: "completed", FAILED: "failed", STOPPED: "stopped" } as const;
const SPENT = [
  ...(["completed", "failed", "stopped", "dollars", "priced"] as const),
  ...(["inputTokens", "outputTokens", "unsaid"] as const),
];
const NOTHING = {
  ...{ completed: 0, failed: 0, stopped: 0, dollars: 0, priced: 0 },
  ...{ inputTokens: 0, outputTokens: 0, unsaid: 0 },
};

interface KeySums {
  /** By hour, model, and whether its conversations were deleted. */
  sums: Map<string, SumEntry & { isDeleted: boolean }>;
  unfinished: number;
  /** What was created, and what ended, in the last day. */
  created: StoredConversation[];
  ended: StoredConversation[];
}

/** What the conversations of each key add up to, hour by hour. What was deleted counts on. */
export class Sums {
  readonly #keys = new Map<string, KeySums>();

  create(row: StoredConversation): void {
    this.#add(entryOf(row, false), false);
    addRecent(this.#of(row.key).created, row, ({ createdAt }) => createdAt);
  }

  end(row: StoredConversation): void {
    this.#add(entryOf(row, true), false);
    addRecent(this.#of(row.key).ended, row, ({ endedAt = 0 }) => endedAt);
  }

  /** A conversation that has ended is deleted. */
  delete(row: StoredConversation): void {
    for (const entry of [entryOf(row, false), entryOf(row, true)]) {
      this.#add(entry, false, -1);
      this.#add(entry, true);
    }
  }

  /** Takes in what a compacted journal says of deleted conversations. */
  restore(entry: SumEntry): void {
    this.#add(entry, true);
  }

  /** What a compacted journal has to say of deleted conversations. */
  *ofDeleted(): Generator<SumEntry> {
    for (const { sums } of this.#keys.values())
      for (const { isDeleted, ...sum } of sums.values()) if (isDeleted) yield sum;
  }

  unfinished(key: string): number {
    return this.#of(key).unfinished;
  }

  /** What counts in a window of a key that ends at `now` (epoch ms). `isThere`: a conversation was not deleted. */
  leaving(
    { key, now, windowMs }: { key: string; now: number; windowMs: number },
    isThere: (row: StoredConversation) => boolean,
  ): Leaving[] {
    const { sums, created, ended } = this.#of(key);
    const isLong = windowMs >= LONG_WINDOW_MS;
    const leaving: Leaving[] = [];
    const add = (ms: number, creates: number, dollars = 0) => {
      if (ms > 0) leaving.push({ ms, created: creates, dollars });
    };
    for (const sum of sums.values())
      if (isLong || sum.isDeleted) add(leavesAt(sum.at, windowMs, true) - now, sum.created, sum.dollars);
    if (isLong) return leaving;
    for (const row of created.filter(isThere)) add(leavesAt(row.createdAt, windowMs) - now, 1);
    for (const row of ended.filter(isThere))
      add(leavesAt(row.endedAt ?? 0, windowMs) - now, 0, row.bill.dollars);
    return leaving;
  }

  /** What ended since the hour of `since` (epoch ms) began. */
  spent(by: SpentBy, since: number): Spent[] {
    const spent = new Map<string, Spent>();
    for (const { sums } of this.#keys.values())
      for (const sum of sums.values()) {
        const { key, model, at, completed, failed, stopped } = sum;
        if (at < hourOf(since) || completed + failed + stopped === 0) continue;
        const name = { key, model, day: new Date(at).toISOString().slice(0, 10) }[by];
        const own = spent.get(name) ?? { name, ...NOTHING };
        addAmounts(own, sum, 1);
        spent.set(name, own);
      }
    return [...spent.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #of(key: string): KeySums {
    const own = this.#keys.get(key) ?? { sums: new Map(), unfinished: 0, created: [], ended: [] };
    this.#keys.set(key, own);
    return own;
  }

  #add(entry: SumEntry, isDeleted: boolean, sign: 1 | -1 = 1): void {
    const own = this.#of(entry.key);
    const name = `${entry.at} ${isDeleted} ${entry.model}`;
    const sum = own.sums.get(name) ?? { ...entry, ...NOTHING, created: 0, isDeleted };
    addAmounts(sum, entry, sign);
    sum.created += sign * entry.created;
    own.sums.set(name, sum);
    own.unfinished += sign * (entry.created - entry.completed - entry.failed - entry.stopped);
  }
}

/** What a conversation adds to the sums of the hour in which it was created or, with `isEnd`, ended. */
function entryOf(
  { key, createdAt, endedAt = 0, status, bill }: StoredConversation,
  isEnd: boolean,
): SumEntry {
  if (!isEnd) return { kind: "sum", key, at: hourOf(createdAt), model: "", created: 1, ...NOTHING };
  const { model = "", dollars, inputTokens, outputTokens } = bill;
  return {
    ...{ kind: "sum", key, at: hourOf(endedAt), model, created: 0, ...NOTHING },
    ...{ [COLUMNS[status as keyof typeof COLUMNS]]: 1 },
    ...{ dollars: dollars ?? 0, priced: Number(dollars !== undefined) },
    ...{ inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 },
    unsaid: Number((dollars ?? inputTokens ?? outputTokens) === undefined),
  };
}

function addAmounts(sum: typeof NOTHING, amounts: typeof NOTHING, sign: 1 | -1): void {
  for (const name of SPENT) sum[name] += sign * amounts[name];
  sum.dollars = unitsOf(sum.dollars) / 1e9;
}

/** Adds a conversation to those of the last day. */
function addRecent(
  rows: StoredConversation[],
  row: StoredConversation,
  at: (row: StoredConversation) => number,
): void {
  rows.push(row);
  while (rows[0] && at(rows[0]) < at(row) - DAY_MS) rows.shift();
}
