import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** The whole of a manual on one page has some megabytes; larger files are data. */
export const MAX_FILE_BYTES = 8 * 1_048_576;
/** All files of one index have no more (contract §4), and a packed one may have as much. */
export const MAX_TOTAL_BYTES = 64 * 1_048_576;

/** Documents that are packed: they are unpacked in a thread with limits, and their lines are not those of a file. */
export function isPacked(name: string): boolean {
  return /\.(?:pdf|docx)$/i.test(name);
}

/** How many bytes the file `name` may have. */
export function limitOf(name: string): number {
  return isPacked(name) ? MAX_TOTAL_BYTES : MAX_FILE_BYTES;
}

/** Why a file is not read. */
export const describeTooLarge = (bytes: number) => `larger than ${bytes / 1_048_576} MiB`;

/** A named pipe is not waited for, and a terminal does not become the one of this process. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * The bytes of a regular file of at most `limit` bytes. "too large" for a longer one; undefined if there is none, if it
 * is a device, a pipe or a folder, or cannot be read. A file that grows meanwhile is not read beyond its size before.
 * It blocks its thread, which is the one of the index: that has nothing else to do, and thousands of small files
 * take half the time.
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

/** The bytes of one source file, or why it is not read: it became a symlink, grew too large. */
export function readBytes(root: string, name: string): Uint8Array | { reason: string } {
  const bytes = readRegularFile(join(root, name), limitOf(name), constants.O_NOFOLLOW ?? 0);
  if (bytes === undefined) return { reason: "it cannot be read" };
  return bytes === "too large" ? { reason: describeTooLarge(limitOf(name)) } : bytes;
}

/** What a page says of its own encoding has to stand in its first 1,024 bytes (HTML, "determining the character encoding"). */
const SNIFFED = 1_024;
/** The encoding that each byte order mark names. */
const MARKS = [
  ["\xef\xbb\xbf", "utf-8"],
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
] as const;
const META = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const XML = /^<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/i;

export const NOT_TEXT = "not text";

/**
 * Bytes as text, or why they are not text. The encoding is that of a byte order mark, else `charset` (as the sender of the
 * bytes names it), else what the page says of itself, else UTF-8. Bytes that are invalid in it are not text.
 */
export function decodeText(bytes: Uint8Array, charset?: string): { text: string } | { reason: string } {
  const head = Buffer.from(bytes.subarray(0, SNIFFED)).toString("latin1");
  const mark = MARKS.find(([bytes]) => head.startsWith(bytes));
  const label = mark?.[1] ?? charset ?? findOwnMark(head) ?? "utf-8";
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // In one call Node takes windows-1252 for Latin-1 (nodejs/node#56542).
    const text = decoder.decode(bytes, { stream: true }) + decoder.decode();
    return text.includes("\0") ? { reason: NOT_TEXT } : { text };
  } catch (error) {
    if (error instanceof RangeError) return { reason: `its charset is unknown: ${label}` };
    return { reason: /^utf-?8$/i.test(label) ? "not UTF-8 text" : `not text in its charset, ${label}` };
  }
}

/** The one that a page names: in single bytes, so it is not UTF-16, whatever it says. */
function findOwnMark(head: string): string | undefined {
  const label = META.exec(head)?.[1] ?? XML.exec(head)?.[1];
  return /^utf-?16/i.test(label ?? "") ? "utf-8" : label;
}
