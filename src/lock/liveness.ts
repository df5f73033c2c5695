import { type Holder, processStat, thisProcess } from "./holder.js";
import { isOpen } from "./socket.js";

/** `unknown`: it cannot be found out from here, so the lock counts as held. */
export type Liveness = "alive" | "dead" | "unknown";

/** Whether the holder of a lock lives; `folder` and `socket` name its socket. */
export async function livenessOf(holder: Holder, folder: string, socket: string): Promise<Liveness> {
  const own = thisProcess();
  if (holder.boot !== own.boot || (own.boot === undefined && holder.host !== own.host)) {
    // The same machine under another kernel has been rebooted; another machine cannot be asked.
    return holder.machine !== undefined && holder.machine === own.machine ? "dead" : "unknown";
  }
  if (own.namespace !== undefined && own.namespace === holder.namespace) {
    const found = processLiveness(holder);
    if (found !== "unknown") return found;
  }
  if (holder.device === undefined) return "unknown";
  const open = await isOpen(folder, socket, holder.device);
  return open === undefined ? "unknown" : open ? "alive" : "dead";
}

function processLiveness({ pid, began }: Holder): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return "dead";
  }
  const stat = processStat(pid);
  if (stat === undefined || began === undefined) return "unknown";
  // Z: a zombie has ended, and its parent has not asked yet.
  return stat.began === began && stat.state !== "Z" && stat.state !== "X" ? "alive" : "dead";
}
