import type { Dispatcher } from "undici";
import { buildConnector, Client, Pool, symbols, tunnelParts } from "../../undici.js";
import { connectOptions, type FreshConnection } from "./fresh-connection.js";
import type { ProxyAddress } from "./proxy.js";

/** curl reads answers with up to 300 kB of headers; undici's own limit is 16 kB. */
const MAX_HEADER_BYTES = 300_000;

/** Up to `size` connections to `target`, kept alive; through a proxy to https in tunnels. `connectTimeout`: ms. */
export async function pool(
  target: URL,
  proxy: ProxyAddress | undefined,
  size: number,
  connectTimeout: number,
): Promise<Dispatcher> {
  const options = { connections: size, maxHeaderSize: MAX_HEADER_BYTES };
  if (!proxy || target.protocol === "http:") {
    const peer = proxy?.url ?? target;
    const connect = buildConnector({ timeout: connectTimeout, ...connectOptions(peer) });
    return acceptContinue(new Pool(peer.origin, { ...options, connect }));
  }
  const { ProxyAgent, connect } = await tunnelParts();
  return new ProxyAgent({
    ...options,
    uri: proxy.url.origin,
    ...(proxy.authorization && { token: proxy.authorization }),
    connectTimeout,
    proxyTls: connectOptions(proxy.url),
    requestTls: connectOptions(target),
    factory: (origin, settings) => acceptContinue(new Pool(origin, settings)),
    clientFactory: (origin, settings) => Object.assign(new Pool(origin, settings), { connect }),
  });
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

/** The parts of undici's HTTP/1 parser that are used here, for each connection (client-h1.js). */
interface Parser {
  onHeadersComplete(statusCode: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

/** RFC 9110 §15.2: a `100 Continue` is ignored. undici fails on it alone (client-h1.js), so it gets to see a 102. */
export function acceptContinue<T extends Dispatcher>(dispatcher: T): T {
  dispatcher.on("connect", (_origin, targets) => {
    const parser = parserOf(targets.at(-1));
    if (!parser) return;
    const { onHeadersComplete } = parser;
    parser.onHeadersComplete = (statusCode, ...rest) =>
      onHeadersComplete.call(parser, statusCode === 100 ? 102 : statusCode, ...rest);
  });
  return dispatcher;
}

function parserOf(client: object | undefined): Parser | undefined {
  const socket: object | undefined = client && Reflect.get(client, symbols.kSocket);
  return socket && Reflect.get(socket, symbols.kParser);
}
