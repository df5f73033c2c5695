import { constants, promises as fs } from "node:fs";
import { join } from "node:path";

/** Larger files are data, or a book that would fill the index alone. */
export const MAX_FILE_BYTES = 1_048_576;

/** A named pipe is not waited for, and a terminal does not become the one of this process. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * The bytes of a regular file of at most `limit` bytes. "too large" for a longer one; undefined if there is none, if it
 * is a device, a pipe or a folder, or cannot be read. A file that grows meanwhile is not read beyond the limit.
 */
export async function readRegularFile(
  path: string,
  limit: number,
  moreFlags = 0,
): Promise<{ bytes: Buffer } | "too large" | undefined> {
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(path, FLAGS | moreFlags);
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    if (stat.size > limit) return "too large";
    const bytes = Buffer.alloc(stat.size);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return { bytes: bytes.subarray(0, bytesRead) };
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}

/** The text of one source file; undefined if it is gone, became a symlink, grew too large, or is no text. */
export async function readText(root: string, name: string): Promise<string | undefined> {
  const read = await readRegularFile(join(root, name), MAX_FILE_BYTES, constants.O_NOFOLLOW ?? 0);
  if (read === undefined || read === "too large" || read.bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read.bytes);
  } catch {
    return undefined;
  }
}
