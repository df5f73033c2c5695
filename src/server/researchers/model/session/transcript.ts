import type { Spent } from "./budget.js";
import type { ExchangeRecord, KeptReply } from "./exchange-record.js";

/** The exchanges of an earlier process, given back in the order in which they are asked for. */
export class Transcript {
  readonly #byHash = new Map<string, ExchangeRecord[]>();
  constructor(records: readonly ExchangeRecord[]) {
    for (const record of records) {
      const same = this.#byHash.get(record.hash);
      if (same === undefined) this.#byHash.set(record.hash, [record]);
      else same.push(record);
    }
  }

  /** What the exchanges of one hash cost, and the reply if one of them brought one. Gives each out once. */
  take(hash: string): { cost: Spent; reply: KeptReply | undefined } {
    const records = this.#byHash.get(hash) ?? [];
    this.#byHash.delete(hash);
    const replies = records.flatMap((record) =>
      record.kind === "ended" && record.reply !== undefined ? [record.reply] : [],
    );
    return { cost: costOf(records), reply: replies[0] };
  }

  /** What the unused answers cost: the sources have changed since, and with them what is asked. */
  takeRest(): Spent {
    const records = [...this.#byHash.values()].flat();
    this.#byHash.clear();
    return costOf(records);
  }
}

/** A request without an end was under way when the process was killed; it counts as estimated. */
function costOf(records: readonly ExchangeRecord[]): Spent {
  const cost = { tokens: 0, calls: 0, ms: 0, output: 0 };
  const open: number[] = [];
  for (const record of records) {
    if (record.kind === "sent") {
      cost.calls += 1;
      open.push(record.estimate);
    } else {
      open.pop();
      cost.tokens += record.tokens;
      cost.ms += record.ms;
      cost.output += record.reply?.outputTokens ?? 0;
    }
  }
  for (const estimate of open) cost.tokens += estimate;
  return cost;
}
