import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { decodeText } from "./charset.js";

/** The whole of a manual on one page has some megabytes; larger files are data. */
export const MAX_FILE_BYTES = 8 * 1_048_576;

/** Why a file is not read. */
export const largerThan = (bytes: number) => `larger than ${bytes / 1_048_576} MiB`;

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

/** The text of one source file, or why it is not read: it became a symlink, grew too large, is not text. */
export function readText(root: string, name: string): { text: string } | { reason: string } {
  const bytes = readBytes(root, name, MAX_FILE_BYTES);
  return bytes instanceof Uint8Array ? decodeText(bytes) : bytes;
}

/** The bytes of one source file of at most `limit` bytes, or why it is not read. */
export function readBytes(root: string, name: string, limit: number): Uint8Array | { reason: string } {
  const bytes = readRegularFile(join(root, name), limit, constants.O_NOFOLLOW ?? 0);
  if (bytes === undefined) return { reason: "it cannot be read" };
  return bytes === "too large" ? { reason: largerThan(limit) } : bytes;
}
