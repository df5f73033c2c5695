import type { Dispatcher } from "undici";
import { dial } from "./fresh-connection.js";

/** Polls that may be under way at once, each on a connection of its own. */
export const POOL_SIZE = 16;

/** Connections to one origin. */
export interface Connections {
  /** Kept alive and shared: for everything that may be repeated. */
  shared(): Promise<Dispatcher>;
  /** Used once: a create never rides on a connection that the peer may have given up meanwhile. */
  fresh(): Promise<Dispatcher>;
  /** Ends every connection at once; nothing keeps the process alive afterwards. */
  close(): Promise<void>;
}

/**
 * Opens and loads nothing yet: a command that speaks to no service does not pay for undici, nor one without a
 * proxy for tunnels. `proxy` is a URL or undefined; `connectTimeout` is in milliseconds.
 */
export function connections(origin: string, proxy: string | undefined, connectTimeout: number): Connections {
  const open: Promise<{ destroy(): unknown }>[] = [];
  let pool: Promise<Dispatcher> | undefined;
  const keep = (dispatcher: Promise<Dispatcher>) => {
    open.push(dispatcher);
    return dispatcher;
  };
  const proxied = async (uri: string) => {
    const { tunnel } = await import("./proxy-dispatcher.js");
    return tunnel(uri, POOL_SIZE, connectTimeout);
  };
  const direct = () => import("./direct-dispatcher.js");
  return {
    shared() {
      pool ??= keep(
        proxy ? proxied(proxy) : direct().then(({ shared }) => shared(origin, POOL_SIZE, connectTimeout)),
      );
      return pool;
    },
    fresh() {
      if (proxy) return keep(proxied(proxy));
      // It opens and settles while undici is loaded.
      const dialled = dial(new URL(origin), connectTimeout);
      open.push(Promise.resolve(dialled));
      return keep(direct().then(({ fresh }) => fresh(origin, dialled)));
    },
    async close() {
      await Promise.all(open.map(async (dispatcher) => (await dispatcher).destroy()));
    },
  };
}
