import * as fs from "node:fs";
import { join } from "node:path";

/** A socket address on macOS holds 103 bytes of path, on Linux 107; a longer one is reached through its folder's descriptor. */
const MAX_PATH_BYTES = 103;

/**
 * Binds a socket in `folder` that shows all processes on the same kernel that this one lives. Resolves with the function
 * that closes it, which does nothing if the file system or the system has no sockets.
 */
export async function bindWitness(folder: string, name: string): Promise<() => void> {
  if (process.platform === "win32") return () => {};
  const { createServer } = await import("node:net");
  const address = makeShortAddress(folder, name);
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(address.path, resolve);
    });
    // Without descriptors a connection cannot be accepted, and the kernel has completed it all the same.
    server.on("error", () => {});
    return () => {
      // Node unlinks the path that was bound, so the descriptor in it has to be open until then.
      server.close();
      address.release();
    };
  } catch {
    server.close();
    address.release();
    return () => {};
  }
}

/** Whether a process has the socket open; undefined if there is none, or it cannot be asked. */
export async function isOpen(folder: string, name: string): Promise<boolean | undefined> {
  const { createConnection } = await import("node:net");
  const address = makeShortAddress(folder, name);
  try {
    const code = await new Promise<string | undefined>((resolve) => {
      const socket = createConnection(address.path);
      socket.once("connect", () => {
        socket.destroy();
        resolve(undefined);
      });
      socket.once("error", (error) => resolve("code" in error ? String(error.code) : "unknown"));
    });
    // EAGAIN: more connections wait than the holder has accepted.
    if (code === undefined || code === "EAGAIN") return true;
    return code === "ECONNREFUSED" ? false : undefined;
  } finally {
    address.release();
  }
}

function makeShortAddress(folder: string, name: string): { path: string; release(): void } {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES || process.platform !== "linux")
    return { path, release() {} };
  const fd = fs.openSync(folder, "r");
  return { path: `/proc/self/fd/${fd}/${name}`, release: () => fs.closeSync(fd) };
}
