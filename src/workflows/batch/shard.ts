import { createHash } from "node:crypto";

/** One of several parts of a batch, each run by a machine of its own: part `index` of `count`, from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** The rows of one shard. A row stays in its shard if other rows are added: the hash of its id decides. */
export function rowsOfShard<R extends { id: string }>(rows: readonly R[], { index, count }: Shard): R[] {
  return rows.filter(({ id }) => shardOf(id, count) === index);
}

/** The shard of a row, from 1 to `count`. */
export function shardOf(id: string, count: number): number {
  return (createHash("sha256").update(id).digest().readUInt32BE() % count) + 1;
}
