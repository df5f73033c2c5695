import type { Dispatcher } from "undici";
import connect from "undici/lib/api/api-connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import type { ProxyAddress } from "../proxy-setting.js";
import { MAX_HEADER_BYTES } from "./dispatchers.js";
import { acceptContinue } from "./interim-responses.js";
import { connectOptions } from "./socket-options.js";

/** Tunnels to `target` through an HTTP proxy (CONNECT). Opens nothing yet; `connectTimeout` is in milliseconds. */
export function tunnel(
  target: URL,
  { url, authorization }: ProxyAddress,
  connections: number,
  connectTimeout: number,
): Dispatcher {
  return new ProxyAgent({
    uri: url.origin,
    ...(authorization && { token: authorization }),
    connections,
    connectTimeout,
    maxHeaderSize: MAX_HEADER_BYTES,
    proxyTls: connectOptions(url),
    requestTls: connectOptions(target),
    factory: (origin, options) => acceptContinue(new Pool(origin, options)),
    // Only undici's index gives its dispatchers `connect`, and loading that would load all the rest with it.
    clientFactory: (origin, options) => Object.assign(new Pool(origin, options), { connect }),
  });
}
