import { promises as fs } from "node:fs";
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
