import type { Dispatcher } from "undici";
import { buildConnector, Client, Pool } from "../../../undici.js";
import type { FreshConnection } from "./fresh-connection.js";
import { acceptContinue } from "./interim-responses.js";
import type { ConnectOptions } from "./socket-options.js";

/** curl reads answers with up to 300 kB of headers; undici's own limit is 16 kB. */
export const MAX_HEADER_BYTES = 300_000;

/** Up to `size` connections that are kept alive. `connectTimeout` is in milliseconds. */
export function shared(
  origin: string,
  size: number,
  connectTimeout: number,
  options: ConnectOptions,
): Dispatcher {
  const connect = buildConnector({ timeout: connectTimeout, ...options });
  return acceptContinue(new Pool(origin, { connections: size, connect, maxHeaderSize: MAX_HEADER_BYTES }));
}

/** Sends over one connection that is being opened already, and over none after it. */
export function fresh(origin: string, connection: FreshConnection): Dispatcher {
  const client = new Client(origin, {
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: (_options, callback) => {
      connection.ready().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
  return acceptContinue(client);
}
