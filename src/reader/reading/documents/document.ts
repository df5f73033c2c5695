import type { Clock } from "../../../core/clock.js";
import { OverLimit, Threads } from "../../../core/threads.js";
import type { Block } from "../blocks/block.js";
import { isPacked } from "../files/read-file.js";

/** Of a page: its media type, as in "text/html", which says more than its name, and its charset as its sender names it. */
export interface PageKind {
  type: string;
  charset: string | undefined;
}

/** The bytes of a document, and what is known of it. */
export interface DocumentTask {
  /** Its name or the path of its address: the ending says what it is. */
  name: string;
  bytes: Uint8Array;
  page?: PageKind;
  /** Of a page: whether all of its text is wanted, too. */
  wantsText?: boolean;
  /** It is a robots.txt: what is wanted are its rules for us. */
  isRobots?: boolean;
}

export interface ReadDocument {
  blocks: Block[];
  title?: string;
  /** As the document gives it. */
  date?: string;
  /** Whether the page has more text than is kept. */
  isCut?: boolean;
  /** Whether it says that its rest is for those who pay. */
  isPaid?: boolean;
  /** All text of a page, if it was wanted: what leads through it, what is hidden, and what its tags say. */
  text?: string;
  /** Of a robots.txt. */
  rules?: string[];
  /** It gave nearly no text. */
  isBare?: boolean;
}

/** A document cut into blocks, or why it cannot be read, as a phrase. */
export type CutDocument = ReadDocument | { reason: string };

/** What is kept of one page, in bytes of its blocks as JSON, and of a PDF whose text is wanted whole. */
export const MAX_PAGE_TEXT = 1_048_576;
export const MAX_PDF_TEXT = 8 * MAX_PAGE_TEXT;

/** What one document may take: 200 pages of PDF need 2 s and 130 MiB. The process is looked at every 10 ms. */
const LIMITS = { heapMib: 512, processMib: 640 };
const PACKED_MS = 30_000;
/** A PDF with 8 MiB of text. */
const LONG_PDF_MS = 90_000;
const TEXT_MS = 5_000;

/** The media type of a page that is a PDF. */
export const PDF = "application/pdf";

/** Cuts a document into blocks. Rejects with `signal.reason` only. */
export type DocumentReader = (task: DocumentTask, signal: AbortSignal) => Promise<CutDocument>;

/** Reads documents in processes with limits, `most` at a time. */
export function createDocumentReader(clock: Pick<Clock, "sleep">, most: number): DocumentReader {
  const limitMs = ({ name, page, wantsText }: DocumentTask) => {
    const isLong = page ? page.type === PDF : isPacked(name);
    return isLong ? (wantsText ? LONG_PDF_MS : PACKED_MS) : TEXT_MS;
  };
  const options = { name: "document-worker", most, limitMs, clock, ...LIMITS };
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
