import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** The largest file in bytes. A manual on one page has a few megabytes, so a larger file is probably data. */
export const MAX_FILE_BYTES = 8 * 1_048_576;
/** The limit for all files of one index (contract §4), and for one packed file, in bytes. */
export const MAX_TOTAL_BYTES = 64 * 1_048_576;

/** Returns whether a document is an archive, which is unpacked in a process with limits. */
export function isArchive(name: string): boolean {
  return /\.(?:pdf|docx)$/i.test(name);
}

/** Returns the size limit of the file `name`, in bytes. */
export function getSizeLimit(name: string): number {
  return isArchive(name) ? MAX_TOTAL_BYTES : MAX_FILE_BYTES;
}

/** Describes that a file exceeds its size limit. */
export const describeTooLarge = (bytes: number) => `larger than ${bytes / 1_048_576} MiB`;

/** Flags that do not wait for a named pipe, and do not make a terminal the controlling one. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Reads a regular file. Returns "too large" above `limit` bytes; undefined if the file is missing, unreadable, or not a
 * regular one. Ignores what is appended meanwhile. Synchronous, which takes half the time for thousands of small files;
 * the index thread has nothing else to do meanwhile.
 */
export function readRegularFile(path: string, limit: number, flags = 0): Buffer | "too large" | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, FLAGS | flags);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    if (stat.size > limit) return "too large";
    const bytes = Buffer.allocUnsafe(stat.size);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads one source file, or returns why it cannot be read: for example, it has become a symlink, or has grown too large. */
export function readSourceFile(root: string, name: string): Uint8Array | { reason: string } {
  const bytes = readRegularFile(join(root, name), getSizeLimit(name), constants.O_NOFOLLOW ?? 0);
  if (bytes === undefined) return { reason: "it cannot be read" };
  return bytes === "too large" ? { reason: describeTooLarge(getSizeLimit(name)) } : bytes;
}

/** How many bytes are searched for a declared encoding (HTML, "determining the character encoding"). */
const SNIFFED = 1_024;
/** Byte order marks, with their encodings. */
const MARKS = [
  ["\xef\xbb\xbf", "utf-8"],
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
] as const;
const META = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const XML = /^<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/i;

export const NOT_TEXT = "not text";

/**
 * Decodes bytes as text, or returns why they are not text. The encoding is that of the byte order mark, else `charset` (from
 * the sender), else the one that the page declares, else UTF-8. Bytes that are invalid in the encoding are not text.
 */
export function decodeText(bytes: Uint8Array, charset?: string): { text: string } | { reason: string } {
  const head = Buffer.from(bytes.subarray(0, SNIFFED)).toString("latin1");
  const mark = MARKS.find(([bytes]) => head.startsWith(bytes));
  const label = mark?.[1] ?? charset ?? findDeclaredEncoding(head) ?? "utf-8";
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // Use two calls, because in a single one Node decodes windows-1252 as Latin-1 (nodejs/node#56542).
    const text = decoder.decode(bytes, { stream: true }) + decoder.decode();
    return text.includes("\0") ? { reason: NOT_TEXT } : { text };
  } catch (error) {
    if (error instanceof RangeError) return { reason: `its charset is unknown: ${label}` };
    return { reason: /^utf-?8$/i.test(label) ? "not UTF-8 text" : `not text in its charset, ${label}` };
  }
}

/** Returns the encoding that a page declares. UTF-16 counts as UTF-8, because a declaration in single bytes cannot be UTF-16. */
function findDeclaredEncoding(head: string): string | undefined {
  const label = META.exec(head)?.[1] ?? XML.exec(head)?.[1];
  return /^utf-?16/i.test(label ?? "") ? "utf-8" : label;
}
