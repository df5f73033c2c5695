import { isObject } from "../../../core/json/exact-json.js";
import type { ModelReply } from "../endpoint/answer.js";
import type { SpentSoFar } from "./budget.js";

/** What is kept of one request to the endpoint. `hash` is the SHA-256 of what the model was asked, in hex. It holds no key. */
export type ExchangeRecord =
  /** Written before the request leaves: a crash must not make it free. `estimate` is in tokens. */
  | { kind: "sent"; hash: string; estimate: number }
  /** How it ended. Without a reply it was refused or cut. `tokens` is what it cost. */
  | { kind: "ended"; hash: string; tokens: number; ms: number; reply?: ModelReply };

/** The exchanges of an earlier process, given back in the order in which they are asked for. */
export class Transcript {
  readonly #records: Set<ExchangeRecord>;
  /** `records` are stored values: those of a source are kept beside those of the model, and are left out. */
  constructor(records: readonly unknown[]) {
    const isExchange = (record: unknown): record is ExchangeRecord =>
      isObject(record) && (record.kind === "sent" || record.kind === "ended");
    this.#records = new Set(records.filter(isExchange));
  }

  /**
   * The kept reply to the request with this hash, and what its exchanges cost. If there is no reply, the sources have changed
   * and other requests are made: then it is the cost of all that is left. Each record is given once.
   */
  take(hash: string): { cost: SpentSoFar; reply: ModelReply | undefined } {
    const records = [...this.#records].filter((record) => record.hash === hash);
    const [reply] = records.flatMap((record) => (record.kind === "ended" && record.reply) || []);
    const taken = reply ? records : [...this.#records];
    for (const record of taken) this.#records.delete(record);
    return { cost: costOf(taken), reply };
  }
}

/** A request without an end was under way when the process was killed; it counts as estimated. */
function costOf(records: readonly ExchangeRecord[]): SpentSoFar {
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
