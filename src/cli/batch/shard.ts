import { UsageError } from "../errors.js";
import { type Row, shardOf } from "./row.js";

/** One of several parts of a batch, each run by a machine of its own: `index` of `count`, from 1. */
export class Shard {
  readonly #index: number;
  readonly count: number;

  private constructor(index: number, count: number) {
    this.#index = index;
    this.count = count;
  }

  /** Reads `2/8`; undefined for nothing. Throws UsageError for what is no shard. */
  static of(text: string | undefined): Shard | undefined {
    if (text === undefined) return undefined;
    const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? [];
    if (index && count && index <= count) return new Shard(index, count);
    throw new UsageError(`${JSON.stringify(text)} is no shard`, "Write K/N, from 1/N to N/N.");
  }

  /** Its rows: the same ones however many are added. */
  rowsOf(rows: readonly Row[]): Row[] {
    return rows.filter(({ id }) => shardOf(id, this.count) === this.#index);
  }
}
