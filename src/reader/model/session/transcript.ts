import { isObject } from "../../../core/json/exact-json.js";
import type { ModelReply } from "../endpoint/answer.js";
import type { SpentSoFar } from "./budget.js";

/** A record of a request to the endpoint. `hash` is the SHA-256 of the request, in hex. Contains no key. */
export type ExchangeRecord =
  /** Written before the request leaves, so that a crash does not hide its cost. `estimate` is in tokens. */
  | { kind: "sent"; hash: string; estimate: number }
  /** The end of a request. Without `reply` it was refused or cut. `tokens` is its cost. */
  | { kind: "ended"; hash: string; tokens: number; ms: number; reply?: ModelReply };

/** Replays the exchanges of an earlier process in the order of the requests. */
export class Transcript {
  readonly #records: Set<ExchangeRecord>;
  /** `records` are stored values; those of a source are in the same store and are skipped. */
  constructor(records: readonly unknown[]) {
    const isExchange = (record: unknown): record is ExchangeRecord =>
      isObject(record) && (record.kind === "sent" || record.kind === "ended");
    this.#records = new Set(records.filter(isExchange));
  }

  /**
   * Returns the stored reply to the request with this hash, and the cost of its exchanges. If there is none, the sources
   * have changed and other requests follow: then returns the cost of all remaining records. Returns each record once.
   */
  take(hash: string): { cost: SpentSoFar; reply: ModelReply | undefined } {
    const records = [...this.#records].filter((record) => record.hash === hash);
    const [reply] = records.flatMap((record) => (record.kind === "ended" && record.reply) || []);
    const matching = reply ? records : [...this.#records];
    for (const record of matching) this.#records.delete(record);
    return { cost: computeCost(matching), reply };
  }
}

/** A request without an end was interrupted when the process was killed; its estimate counts. */
function computeCost(records: readonly ExchangeRecord[]): SpentSoFar {
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
