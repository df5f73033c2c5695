import { constants, promises as fs } from "node:fs";

/**
 * Opens a regular file for reading and appending, mode 0600. Throws for anything else: a FIFO or a device could be
 * read or waited for without end.
 */
export async function openRegularFile(path: string, flags: number): Promise<fs.FileHandle> {
  const { O_RDWR, O_APPEND, O_NONBLOCK } = constants;
  const handle = await fs.open(path, O_RDWR | O_APPEND | O_NONBLOCK | flags, 0o600);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    await handle.chmod(0o600);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Reads a regular file as UTF-8 text; undefined if there is none. Throws for one over `maxBytes`, and for anything
 * else than a file.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string | undefined> {
  const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unlessMissing);
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (stat.size > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
