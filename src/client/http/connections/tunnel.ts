import type { Dispatcher } from "undici";
import { Pool, tunnelParts } from "../../../undici.js";
import type { ProxyAddress } from "../proxy-setting.js";
import { MAX_HEADER_BYTES } from "./dispatchers.js";
import { acceptContinue } from "./interim-responses.js";
import { connectOptions } from "./socket-options.js";

/** Tunnels to `target` through an HTTP proxy (CONNECT). Opens nothing yet; `connectTimeout` is in milliseconds. */
export async function tunnel(
  target: URL,
  { url, authorization }: ProxyAddress,
  connections: number,
  connectTimeout: number,
): Promise<Dispatcher> {
  const { ProxyAgent, connect } = await tunnelParts();
  return new ProxyAgent({
    uri: url.origin,
    ...(authorization && { token: authorization }),
    connections,
    connectTimeout,
    maxHeaderSize: MAX_HEADER_BYTES,
    proxyTls: connectOptions(url),
    requestTls: connectOptions(target),
    factory: (origin, options) => acceptContinue(new Pool(origin, options)),
    clientFactory: (origin, options) => Object.assign(new Pool(origin, options), { connect }),
  });
}
