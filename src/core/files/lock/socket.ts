import * as fs from "node:fs";
import { join } from "node:path";

/** A socket address on macOS holds 103 bytes of path, on Linux 107; a longer one is reached through its folder's descriptor. */
const MAX_PATH_BYTES = 103;

const OVERLAYFS = 0x794c7630;

/** Binds a socket in `folder` that proves this process alive to all on the same kernel. Resolves with undefined if the file system or the system does not support it. */
export async function bindWitness(folder: string, name: string) {
  if (process.platform === "win32") return undefined;
  const { createServer } = await import("node:net");
  const address = shortAddress(folder, name);
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(address.path, resolve);
    });
    // Without descriptors a connection cannot be accepted, and the kernel has completed it all the same.
    server.on("error", () => {});
    return {
      device: fs.statSync(join(folder, name)).dev,
      close() {
        // Node unlinks the path that was bound, so the descriptor in it has to be open until then.
        server.close();
        address.release();
      },
    };
  } catch {
    server.close();
    address.release();
    return undefined;
  }
}

/** Whether a process has the socket open; undefined if unknown. Each mount (`device`) of a folder has its own. */
export async function isOpen(folder: string, name: string, device: number): Promise<boolean | undefined> {
  const { createConnection } = await import("node:net");
  const address = shortAddress(folder, name);
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
    return code === "ECONNREFUSED" && isSameMount(folder, name, device) ? false : undefined;
  } finally {
    address.release();
  }
}

/** A container that starts again mounts its overlay anew, under a new number; no two mounts of one can be written. */
function isSameMount(folder: string, name: string, device: number): boolean {
  try {
    return fs.statSync(join(folder, name)).dev === device || fs.statfsSync(folder).type === OVERLAYFS;
  } catch {
    return false;
  }
}

function shortAddress(folder: string, name: string): { path: string; release(): void } {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES || process.platform !== "linux")
    return { path, release() {} };
  const fd = fs.openSync(folder, "r");
  return { path: `/proc/self/fd/${fd}/${name}`, release: () => fs.closeSync(fd) };
}
