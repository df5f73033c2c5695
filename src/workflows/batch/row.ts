import { createHash } from "node:crypto";
import { roundedNumbers } from "../../json/rounded-numbers.js";
import type { CreateBody } from "../../protocol/conversation.js";
import { forProvider } from "../../store/history/records.js";

/** One question of a batch. */
export interface Row {
  /** Identifies the row from one command to the next: made of its key, else of its request body. */
  id: string;
  key: string | undefined;
  /** The line of the input where it begins, from 1. */
  line: number;
  body: CreateBody;
  /** A digest of the request body; the order of a schema's fields does not change it. */
  digest: string;
}

/** A digest of a request body, 24 hexadecimal digits. */
export function digestOf(body: CreateBody): string {
  const { prompt, structured_output, output_schema } = body;
  const extra = forProvider(body);
  const rest = [...roundedNumbers(output_schema ?? null), ...(Object.keys(extra).length > 0 ? [extra] : [])];
  const asked = [prompt, structured_output ?? false, output_schema ?? null, ...rest];
  return createHash("sha256")
    .update(JSON.stringify(withSortedFields(asked)))
    .digest("hex")
    .slice(0, 24);
}

/** The id of a row. `nth`, from 1, tells rows apart that have no key and the same request body. */
export function rowId(key: string | undefined, digest: string, nth: number): string {
  if (key !== undefined) return `key:${key}`;
  return nth === 1 ? `ask:${digest}` : `ask:${digest}:${nth}`;
}

/** Whether an earlier row without a key has the same request body. */
export function isRepeated({ key, id, digest }: Row): boolean {
  return key === undefined && id !== rowId(undefined, digest, 1);
}

/**
 * A key as a file name without its extension. Letters, digits, `.`, `_`, `-` and inner blanks stay; any other
 * character becomes `%` and its bytes in hexadecimal, so that two keys never have the same name.
 */
export function fileStem(key: string): string {
  return key.replace(/[^\p{L}\p{M}\p{N}._ -]|^[. ]|[. ]$/gu, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** The longest stem, in bytes: most file systems allow 255, and the extension and a draft's suffix need some. */
export const MAX_STEM_BYTES = 200;

function withSortedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedFields);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, part]) => [name, withSortedFields(part)]);
}
