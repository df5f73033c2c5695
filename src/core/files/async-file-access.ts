import { constants, promises as fs } from "node:fs";
import { UnsuitableFileError } from "./file-access.js";

/** Syncs a folder, so that its names survive a crash. Ignores errors, because systems that refuse to sync a folder do it on their own. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await fs.open(path, "r");
  try {
    await handle.sync().catch(() => {});
  } finally {
    await handle.close();
  }
}

/** Opens a regular file for reading and appending, mode 0600. Throws UnsuitableFileError for another kind of file, whose reading might never end. */
export async function openRegularFile(path: string, flags: number): Promise<fs.FileHandle> {
  const { O_RDWR, O_APPEND, O_NONBLOCK } = constants;
  const handle = await fs.open(path, O_RDWR | O_APPEND | O_NONBLOCK | flags, 0o600);
  try {
    if (!(await handle.stat()).isFile()) throw new UnsuitableFileError(path, "it is not a regular file");
    await handle.chmod(0o600);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns undefined if the file does not exist; rethrows any other system error. A handler for `catch`. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Returns undefined if the file already exists; rethrows any other system error. A handler for `catch`. */
export function ignoreExisting(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "EEXIST") throw error;
}
