import { createHash } from "node:crypto";
import type { CreateBody } from "../../protocol/conversation.js";

/** One question of a batch. */
export interface Row {
  /** What it is known by from one command to the next: its key, else what it asks. */
  id: string;
  key: string | undefined;
  /** Where it begins in the input, from 1. */
  line: number;
  body: CreateBody;
  /** A digest of what it asks, the same for schemas that differ in the order of their fields only. */
  digest: string;
}

/** Names a row for people: its key, else its line. */
export function nameOf({ key, line }: Pick<Row, "key" | "line">): string {
  return key ?? `line ${line}`;
}

/** A digest of a request body. */
export function digestOf({ prompt, structured_output, output_schema }: CreateBody): string {
  const asked = [prompt, structured_output ?? false, output_schema ?? null];
  return createHash("sha256")
    .update(JSON.stringify(sorted(asked)))
    .digest("hex")
    .slice(0, 24);
}

/** The id of a row: `nth` tells those apart that ask the same and have no key, from 1. */
export function rowId(key: string | undefined, digest: string, nth: number): string {
  if (key !== undefined) return `key:${key}`;
  return nth === 1 ? `ask:${digest}` : `ask:${digest}:${nth}`;
}

/** A part of all rows that stays the same however many are added: 1 to `count`. */
export function shardOf(id: string, count: number): number {
  return (createHash("sha256").update(id).digest().readUInt32BE() % count) + 1;
}

/**
 * A key as a file's name without its ending: letters, digits and what is harmless stay, everything else is
 * `%` and its bytes in hex, so that two keys never share a name.
 */
export function fileStem(key: string): string {
  return key.replace(/[^\p{L}\p{M}\p{N}._ -]|^[. ]|[. ]$/gu, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** The longest stem, in bytes: file systems take 255, and an ending and a draft's name come to it. */
export const MAX_STEM_BYTES = 200;

/** A value with the fields of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, part]) => [name, sorted(part)]);
}
