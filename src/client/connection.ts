import type { Duplex } from "node:stream";
import type { buildConnector as BuildConnector, Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";

/** Polls that may be under way at once, each on a connection of its own. */
export const POOL_SIZE = 16;

/**
 * How long a fresh connection is watched before a create is spent on it. A peer that resets on accept does so
 * within this time, and the create then provably never left.
 */
const SETTLE_MS = 15;

/** Connections to one origin. */
export interface Connections {
  /** Kept alive and shared: for everything that may be repeated. */
  shared(): Promise<Dispatcher>;
  /** Used once: a create never rides on a connection that the peer may have given up meanwhile. */
  fresh(): Promise<Dispatcher>;
  /** Ends every connection at once; nothing keeps the process alive afterwards. */
  close(): Promise<void>;
}

/** Opens nothing yet. `proxy` is a URL or undefined; `connectTimeout` is in milliseconds. */
export function connections(origin: string, proxy: string | undefined, connectTimeout: number): Connections {
  const open: Dispatcher[] = [];
  let pool: Dispatcher | undefined;
  const keep = (dispatcher: Dispatcher) => {
    open.push(dispatcher);
    return dispatcher;
  };
  const proxied = async (uri: string) => {
    // Loaded where a proxy is set only: few have one, and every command pays for what is loaded.
    const { tunnel } = await import("./tunnel.js");
    return keep(tunnel(uri, POOL_SIZE, connectTimeout));
  };
  const connect = buildConnector({ timeout: connectTimeout });
  return {
    async shared() {
      pool ??= proxy ? await proxied(proxy) : keep(new Pool(origin, { connections: POOL_SIZE, connect }));
      return pool;
    },
    async fresh() {
      return proxy ? await proxied(proxy) : keep(new Client(origin, { connect: settled(connect) }));
    },
    async close() {
      await Promise.all(open.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** Wraps a connector so that it hands over a socket only once that has stayed open for SETTLE_MS. */
function settled(connect: BuildConnector.connector): BuildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      const fail = (cause?: Error) => {
        done();
        callback(cause ?? new Error("the connection was closed as soon as it was open"), null);
      };
      const timer = setTimeout(() => {
        done();
        callback(null, socket);
      }, SETTLE_MS);
      const done = () => {
        clearTimeout(timer);
        (socket as Duplex).off("error", fail).off("close", fail).off("end", fail);
      };
      (socket as Duplex).on("error", fail).on("close", fail).on("end", fail);
    });
}
