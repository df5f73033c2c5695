import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** Larger files are data, or a book that would fill the index alone. */
export const MAX_FILE_BYTES = 1_048_576;

/** A named pipe is not waited for, and a terminal does not become the one of this process. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * The bytes of a regular file of at most `limit` bytes. "too large" for a longer one; undefined if there is none, if it
 * is a device, a pipe or a folder, or cannot be read. A file that grows meanwhile is not read beyond its size before.
 * It blocks its thread, which is the one of the index: that has nothing else to do, and thousands of small files
 * take half the time.
 */
export function readRegularFile(
  path: string,
  limit: number,
  moreFlags = 0,
): Buffer | "too large" | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, FLAGS | moreFlags);
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

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of one source file; undefined if it is gone, became a symlink, grew too large, or is no text. */
export function readText(root: string, name: string): string | undefined {
  const bytes = readRegularFile(join(root, name), MAX_FILE_BYTES, constants.O_NOFOLLOW ?? 0);
  if (bytes === undefined || bytes === "too large" || bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
