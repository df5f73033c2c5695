import type { Clock } from "../../../clock.js";
import { OverLimit, Threads } from "../../../threads.js";
import type { Block } from "../blocks/block.js";

/** The bytes of a document, and what is known of it. */
export interface DocumentTask {
  /** Its name or the path of its address: the ending says what it is. */
  name: string;
  bytes: Uint8Array;
  /** Of a page: its media type, which says more than the name, and its charset. */
  page?: { type: string; charset: string | undefined };
}

export interface ReadDocument {
  blocks: Block[];
  title?: string;
  /** As the document gives it. */
  date?: string;
}

/** A document cut into blocks, or why it cannot be read, as a phrase. */
export type CutDocument = ReadDocument | { reason: string };

/** What is kept of one page, in bytes of its blocks as JSON. */
export const MAX_PAGE_TEXT = 1_048_576;

/** What one document may take: 200 pages of PDF need 2 s and 130 MiB. */
const LIMITS = { heapMib: 512, limitMs: 30_000 };

/** Documents that are packed: they are unpacked in a thread with limits, and their lines are not those of a file. */
export function isPacked(name: string): boolean {
  return /\.(?:pdf|docx)$/i.test(name);
}

/** Cuts a document into blocks. Rejects with `signal.reason` only. */
export type DocumentReader = (task: DocumentTask, signal: AbortSignal) => Promise<CutDocument>;

/** Reads documents from outside in threads with limits. */
export function documentReader(clock: Pick<Clock, "sleep">): DocumentReader {
  const options = { name: "document-worker", most: 2, keepsIdle: false, clock, ...LIMITS };
  const threads = new Threads<DocumentTask, CutDocument>(options);
  return async (task, signal) => {
    try {
      return await threads.ask(task, signal);
    } catch (error) {
      signal.throwIfAborted();
      const how = error instanceof OverLimit ? "reading it" : "it cannot be read:";
      return { reason: `${how} ${(error as Error).message}` };
    }
  };
}
