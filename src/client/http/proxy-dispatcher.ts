import type { Dispatcher } from "undici";
import connect from "undici/lib/api/api-connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";

/** Tunnels through an HTTP proxy. Opens nothing yet; `connectTimeout` is in milliseconds. */
export function tunnel(uri: string, connections: number, connectTimeout: number): Dispatcher {
  return new ProxyAgent({
    uri,
    connections,
    connectTimeout,
    // Only undici's index gives its dispatchers `connect`, and loading that would load all the rest with it.
    clientFactory: (origin, options) => Object.assign(new Pool(origin, options), { connect }),
  });
}
