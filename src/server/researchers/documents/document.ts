import type { Block } from "../blocks/block.js";

/** The bytes of a document, and what is known of it. */
export interface DocumentTask {
  /** Its name or the path of its address: the ending says what it is. */
  name: string;
  bytes: Uint8Array;
  /** Of a page: its media type, which says more than the name, and its charset. */
  page?: { type: string; charset: string | undefined };
}

/** What is kept of one page, in bytes of its blocks as JSON. */
export const MAX_PAGE_TEXT = 1_048_576;

/** A document cut into blocks, or why it cannot be read, as a phrase. */
export type CutDocument = ReadDocument | { reason: string };

export interface ReadDocument {
  blocks: Block[];
  title?: string;
  /** As the document gives it. */
  date?: string;
}

/** Documents that are packed: they are unpacked in a thread with limits, and their lines are not those of a file. */
export function isPacked(name: string): boolean {
  return /\.(?:pdf|docx)$/i.test(name);
}
