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
