import * as fs from "node:fs";
import { join } from "node:path";

/** The longest path of a socket in bytes: 103 on macOS, 107 on Linux. A longer one is opened through its folder's descriptor. */
const MAX_PATH_BYTES = 103;

/**
 * Binds a socket in `folder`, which proves to every process on the same kernel that this process is alive. Resolves with
 * the function that closes it. Does nothing if the system or the file system does not support sockets.
 */
export async function bindLivenessSocket(folder: string, name: string): Promise<() => void> {
  const { createServer } = await import("node:net");
  const address = makeShortSocketPath(folder, name);
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(address.path, resolve);
    });
    // If no descriptor is free, accepting fails, but the kernel has already completed the connection.
    server.on("error", () => {});
    return () => {
      // Node unlinks the path that it bound. The path contains the descriptor, which must stay open until then.
      server.close();
      address.release();
    };
  } catch {
    server.close();
    address.release();
    return () => {};
  }
}

/** Returns whether a process has the socket open; undefined if the socket does not exist or cannot be tried. */
export async function isLivenessSocketOpen(folder: string, name: string): Promise<boolean | undefined> {
  const { createConnection } = await import("node:net");
  const address = makeShortSocketPath(folder, name);
  try {
    const code = await new Promise<string | undefined>((resolve) => {
      const socket = createConnection(address.path);
      socket.once("connect", () => {
        socket.destroy();
        resolve(undefined);
      });
      socket.once("error", (error) => resolve("code" in error ? String(error.code) : "unknown"));
    });
    // EAGAIN means that the holder's queue of connections is full.
    if (code === undefined || code === "EAGAIN") return true;
    return code === "ECONNREFUSED" ? false : undefined;
  } finally {
    address.release();
  }
}

function makeShortSocketPath(folder: string, name: string): { path: string; release(): void } {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES || process.platform !== "linux")
    return { path, release() {} };
  const fd = fs.openSync(folder, "r");
  return { path: `/proc/self/fd/${fd}/${name}`, release: () => fs.closeSync(fd) };
}
