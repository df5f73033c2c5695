import type { CreateBody } from "../../../core/protocol/conversation.js";

/** One question of a batch. */
export interface Row {
  /** Identifies the row from one command to the next: made of its key, else of its request body. */
  id: string;
  key: string | undefined;
  /** The line of the input where it begins, from 1. */
  line: number;
  /** The profile of its account, where the row names one. */
  profile?: string | undefined;
  body: CreateBody;
  /** A digest of the request body and the profile; the order of a schema's fields does not change it. */
  digest: string;
}

/** The id of a row. `nth`, from 1, tells rows apart that have no key and the same request body. */
export function buildRowId(key: string | undefined, digest: string, nth: number): string {
  if (key !== undefined) return `key:${key}`;
  return nth === 1 ? `ask:${digest}` : `ask:${digest}:${nth}`;
}

/** Whether an earlier row without a key has the same request body. */
export function isRepeated({ key, id, digest }: Row): boolean {
  return key === undefined && id !== buildRowId(undefined, digest, 1);
}

/** Returns a key as a file name without its extension: what is no letter, digit, `.`, `_`, `-` or blank becomes `%` and hexadecimal. */
export function buildFileStem(key: string): string {
  return key.replace(/[^\p{L}\p{M}\p{N}._ -]|^[. ]|[. ]$/gu, encodeChar);
}

function encodeChar(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

/** The longest stem, in bytes: most file systems allow 255, and the extension and a draft's suffix need some. */
export const MAX_STEM_BYTES = 200;
