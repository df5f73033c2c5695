import type { Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Dialled } from "./fresh-connection.js";

/** Up to `size` connections that are kept alive. `connectTimeout` is in milliseconds. */
export function shared(origin: string, size: number, connectTimeout: number): Dispatcher {
  return new Pool(origin, { connections: size, connect: buildConnector({ timeout: connectTimeout }) });
}

/** The one connection that was dialled, and none after it. */
export function fresh(origin: string, dialled: Dialled): Dispatcher {
  return new Client(origin, {
    connect: (_options, callback) => {
      dialled.take().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}
