import type { Duplex } from "node:stream";
import type { buildConnector as BuildConnector, Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";

/**
 * How long a fresh connection is watched before a create is spent on it. A peer that resets on accept does so
 * within this time, and the create then provably never left.
 */
const SETTLE_MS = 15;

/** Up to `size` connections that are kept alive. `connectTimeout` is in milliseconds. */
export function shared(origin: string, size: number, connectTimeout: number): Dispatcher {
  return new Pool(origin, { connections: size, connect: buildConnector({ timeout: connectTimeout }) });
}

/** One connection, handed over only once it has stayed open for SETTLE_MS. */
export function fresh(origin: string, connectTimeout: number): Dispatcher {
  return new Client(origin, { connect: settled(buildConnector({ timeout: connectTimeout })) });
}

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
