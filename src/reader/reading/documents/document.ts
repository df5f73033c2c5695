import type { Clock } from "../../../core/clock.js";
import { OverLimit, Threads } from "../../../core/threads.js";
import type { Block } from "../blocks/block.js";
import { isPacked } from "../files/read-file.js";

/** A page's media type, such as "text/html", which overrides its name, and the charset of its Content-Type. */
export interface PageKind {
  type: string;
  charset: string | undefined;
}

/** The bytes of a document, with its metadata. */
export interface DocumentTask {
  /** Its name or the path of its address; the extension decides its type. */
  name: string;
  bytes: Uint8Array;
  page?: PageKind;
  /** For a page, whether to return all of its text, too. */
  wantsText?: boolean;
  /** Whether it is a robots.txt, of which only the rules are returned. */
  isRobots?: boolean;
}

export interface ReadDocument {
  blocks: Block[];
  title?: string;
  /** As written in the document. */
  date?: string;
  /** Whether the page has more text than was kept. */
  isCut?: boolean;
  /** Whether the page says that the rest is behind payment. */
  isPaid?: boolean;
  /** All text of a page, if requested: navigation, hidden text and metadata included. */
  text?: string;
  /** The rules of a robots.txt. */
  rules?: string[];
  /** Whether nearly no text was found. */
  isBare?: boolean;
}

/** A document split into blocks, or why it cannot be read, as a phrase. */
export type CutDocument = ReadDocument | { reason: string };

/** The size limit of one page's blocks as JSON, and of a PDF's whole text, in bytes. */
export const MAX_PAGE_TEXT = 1_048_576;
export const MAX_PDF_TEXT = 8 * MAX_PAGE_TEXT;

/** The limits for one document: 200 pages of PDF need 2 s and 130 MiB. The process is checked every 10 ms. */
const LIMITS = { heapMib: 512, processMib: 640 };
const PACKED_MS = 30_000;
/** The time for a PDF with 8 MiB of text. */
const LONG_PDF_MS = 90_000;
const TEXT_MS = 5_000;

/** The media type of a PDF. */
export const PDF = "application/pdf";

/** Splits a document into blocks. Rejects with `signal.reason` only. */
export type DocumentReader = (task: DocumentTask, signal: AbortSignal) => Promise<CutDocument>;

/** Creates a reader that parses `most` documents at a time in processes with limits. */
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
