import { constants, promises as fs } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, mode 0700. Not by Node's own `recursive`, which never comes to an end where
 * `mkdir` says ENOENT in a folder that is there, as in /proc (https://github.com/nodejs/node/issues/31481).
 */
export async function makeFolder(path: string): Promise<void> {
  const found = await fs.stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new Error(`${path} is not a folder`);
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  await fs.mkdir(path, { mode: 0o700 }).catch(async (error) => {
    // Another process may have been quicker.
    if (!(await fs.stat(path).catch(() => undefined))?.isDirectory()) throw error;
  });
}

/** Makes names in a folder outlive a crash; where folders cannot be synced, the system does so itself. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await fs.open(path, "r");
  try {
    await handle.sync().catch(() => {});
  } finally {
    await handle.close();
  }
}
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

/** For `catch`: undefined where there is no such file; throws any other error of the system. */
export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** For `catch`: undefined where there is such a file already; throws any other error of the system. */
export function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "EEXIST") throw error;
}
