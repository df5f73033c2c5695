import { type Holder, type Liveness, processLiveness, thisProcess } from "./holder.js";
import { isOpen } from "./socket.js";

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
