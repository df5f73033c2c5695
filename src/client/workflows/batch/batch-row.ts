import type { CreateBody } from "../../../core/protocol/conversation.js";

/** One question of a batch. */
export interface BatchRow {
  /** Identifies the row from one command to the next: made from its key, or else from its request body. */
  id: string;
  key: string | undefined;
  /** The line of the input at which the row begins, counted from 1. */
  line: number;
  /** The profile of its account, if the row names one. */
  profile?: string | undefined;
  body: CreateBody;
  /** A digest of the request body and the profile. The order of a schema's fields does not change it. */
  digest: string;
}

/** Returns the id of a row. `nth`, from 1, distinguishes rows without a key that have the same request body. */
export function buildRowId(key: string | undefined, digest: string, nth: number): string {
  if (key !== undefined) return `key:${key}`;
  return nth === 1 ? `ask:${digest}` : `ask:${digest}:${nth}`;
}

/** Returns whether an earlier row without a key has the same request body. */
export function isRepeatedRow({ key, id, digest }: BatchRow): boolean {
  return key === undefined && id !== buildRowId(undefined, digest, 1);
}

/** Converts a key to a file name without extension. A character other than letter, digit, `.`, `_`, `-` and blank becomes `%` and hexadecimal digits. */
export function buildFileStem(key: string): string {
  return key.replace(/[^\p{L}\p{M}\p{N}._ -]|^[. ]|[. ]$/gu, escapeFileNameChar);
}

function escapeFileNameChar(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

/** Maximum length of a stem in bytes. Most file systems allow 255 for a name, of which the extension and a draft's suffix need some. */
export const MAX_STEM_BYTES = 200;
