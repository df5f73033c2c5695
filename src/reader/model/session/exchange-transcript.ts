import { isObject } from "../../../core/json/exact-json.js";
import type { ModelReply } from "../endpoint/model-answer.js";
import type { SpentSoFar } from "./model-budget.js";

/** A stored record of a request to the endpoint. `hash` is the SHA-256 of the request, in hexadecimal. Contains no key. */
export type ExchangeRecord =
  /** Written before the request is sent, so that a crash does not hide its cost. `estimate` is in tokens. */
  | { kind: "sent"; hash: string; estimate: number }
  /** Written when the request has ended; without `reply` if it was refused or cut. `tokens` is the cost. */
  | { kind: "ended"; hash: string; tokens: number; ms: number; reply?: ModelReply };

/** The exchanges of an earlier process, whose replies are used again. */
export class Transcript {
  readonly #records: Set<ExchangeRecord>;
  /** `records` are those of the store. It also contains the records of sources, which are skipped. */
  constructor(records: readonly unknown[]) {
    const isExchange = (record: unknown): record is ExchangeRecord =>
      isObject(record) && (record.kind === "sent" || record.kind === "ended");
    this.#records = new Set(records.filter(isExchange));
  }

  /**
   * Returns the stored reply to the request with this hash, and the cost of its exchanges. Without a stored reply, the sources
   * have changed and the other records are useless, so returns the cost of all of them. Never returns a record twice.
   */
  take(hash: string): { cost: SpentSoFar; reply: ModelReply | undefined } {
    const records = [...this.#records].filter((record) => record.hash === hash);
    const [reply] = records.flatMap((record) => (record.kind === "ended" && record.reply) || []);
    const matching = reply ? records : [...this.#records];
    for (const record of matching) this.#records.delete(record);
    return { cost: computeRecordedCost(matching), reply };
  }
}

/** Computes the cost of records. A request without an end was interrupted by the end of the process and costs its estimate. */
function computeRecordedCost(records: readonly ExchangeRecord[]): SpentSoFar {
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
