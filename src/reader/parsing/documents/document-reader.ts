import type { Clock } from "../../../core/clock.js";
import { ThreadLimitError, ThreadPool } from "../../../core/thread-pool.js";
import type { Block } from "../blocks/block.js";
import { isArchive } from "../files/read-file.js";

/** The media type of a page, such as "text/html", which takes precedence over its name, and the charset of its Content-Type. */
export interface PageKind {
  type: string;
  charset: string | undefined;
}

/** The bytes of a document, and how to read them. */
export interface DocumentTask {
  /** The name of the file, or the path of the address. The extension determines the type. */
  name: string;
  bytes: Uint8Array;
  page?: PageKind;
  /** Whether to return all text of a page in addition to the blocks. */
  wantsText?: boolean;
  /** Whether the document is a robots.txt, of which only the rules are returned. */
  isRobots?: boolean;
}

export interface ReadDocument {
  blocks: Block[];
  title?: string;
  /** The date as the document states it. */
  date?: string;
  /** Whether the document has more text than was read. */
  isCut?: boolean;
  /** Whether the page says that the rest is only for paying readers. */
  isPaid?: boolean;
  /** If requested: all text of a page, including navigation, hidden text and metadata. */
  text?: string;
  /** The rules, if the document is a robots.txt. */
  rules?: string[];
  /** Whether the document contains nearly no text. */
  isBare?: boolean;
}

/** A document split into blocks, or why it cannot be read, as a phrase. */
export type CutDocument = ReadDocument | { reason: string };

/** The most text of a page's blocks as JSON, and of a whole cited PDF, in bytes. */
export const MAX_PAGE_TEXT = 1_048_576;
export const MAX_PDF_TEXT = 8 * MAX_PAGE_TEXT;

/** The memory limits for one document, MiB; 200 pages of PDF need 130 MiB and 2 s. */
const LIMITS = { heapMib: 512, processMib: 640 };
const PACKED_MS = 30_000;
/** The time limit for a cited PDF, of which up to 8 MiB of text are read, ms. */
const LONG_PDF_MS = 90_000;
const TEXT_MS = 5_000;

/** The media type of a PDF. */
export const PDF = "application/pdf";

/** Splits a document into blocks. Rejects only with `signal.reason`. */
export type DocumentReader = (task: DocumentTask, signal: AbortSignal) => Promise<CutDocument>;

/** Creates a reader that parses up to `most` documents at a time, in processes with limits. */
export function createDocumentReader(clock: Pick<Clock, "sleep">, most: number): DocumentReader {
  const limitMs = ({ name, page, wantsText }: DocumentTask) => {
    const isLong = page ? page.type === PDF : isArchive(name);
    return isLong ? (wantsText ? LONG_PDF_MS : PACKED_MS) : TEXT_MS;
  };
  const options = { name: "document-worker", most, limitMs, clock, ...LIMITS };
  const threads = new ThreadPool<DocumentTask, CutDocument>(options);
  return async (task, signal) => {
    try {
      return await threads.ask(task, signal);
    } catch (error) {
      signal.throwIfAborted();
      const how = error instanceof ThreadLimitError ? "reading it" : "it cannot be read:";
      return { reason: `${how} ${(error as Error).message}` };
    }
  };
}
