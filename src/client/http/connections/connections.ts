import type { Dispatcher } from "undici";
import type { ProxyAddress } from "../proxy-setting.js";
import { openFreshConnection } from "./fresh-connection.js";
import { connectOptions } from "./socket-options.js";

/** Polls that may be under way at once, each on a connection of its own. */
export const POOL_SIZE = 16;

interface Closable {
  destroy(): unknown;
}

/** Connections to one origin, direct or through a proxy. */
export interface Connections {
  /** Kept alive and shared: for everything that may be repeated. */
  shared(): Promise<Dispatcher>;
  /**
   * One that is opened for `use` and closed after it: a create never rides on a connection that the peer may have
   * given up meanwhile, and a thousand creates hold no thousand sockets.
   */
  fresh<T>(use: (dispatcher: Dispatcher) => Promise<T>): Promise<T>;
  /** Ends every connection at once; nothing keeps the process alive afterwards. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens and loads nothing yet: a command that speaks to no service does not pay for undici, nor one without a
 * proxy for tunnels. `target` is the origin of the service; https goes through a tunnel of the `proxy`, plain http
 * to the proxy itself. `connectTimeout` is in milliseconds.
 */
export function connections(
  target: URL,
  proxy: ProxyAddress | undefined,
  connectTimeout: number,
): Connections {
  const open = new Set<Closable>();
  let pool: Promise<Dispatcher> | undefined;
  const isTunnel = proxy !== undefined && target.protocol === "https:";
  const peer = proxy && !isTunnel ? proxy.url : target;
  const openTunnel = async (via: ProxyAddress) => {
    const { tunnel } = await import("./tunnel.js");
    return tunnel(target, via, POOL_SIZE, connectTimeout);
  };
  const openPool = async () => {
    const { shared } = await import("./dispatchers.js");
    return shared(peer.origin, POOL_SIZE, connectTimeout, connectOptions(peer));
  };
  return {
    async shared() {
      pool ??= proxy && isTunnel ? openTunnel(proxy) : openPool();
      const dispatcher = await pool;
      open.add(dispatcher);
      return dispatcher;
    },
    async fresh(use) {
      const parts: Closable[] = [];
      const keep = <T extends Closable>(part: T): T => {
        parts.push(part);
        open.add(part);
        return part;
      };
      try {
        if (proxy && isTunnel) return await use(keep(await openTunnel(proxy)));
        // It opens and settles while undici is loaded.
        const connection = keep(openFreshConnection(peer, connectTimeout));
        const { fresh } = await import("./dispatchers.js");
        return await use(keep(fresh(peer.origin, connection)));
      } finally {
        for (const part of parts) open.delete(part);
        await closeAll(parts);
      }
    },
    async close() {
      await closeAll(open);
    },
  };
}

/** An error while closing says nothing about any request, so it is not passed on. */
async function closeAll(parts: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...parts].map(async (part) => part.destroy()));
}
