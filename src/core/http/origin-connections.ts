import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import type { ProxyAddress } from "./base-url-and-proxy.js";
import type { WireRequest } from "./send-request.js";
import { buildConnectOptions, createConnector, createTunnelConnector } from "./undici-connectors.js";

export const POOL_SIZE = 256;

const LIMITS = {
  /** curl accepts up to 300 kB of headers; undici's own limit is 16 kB. */
  maxHeaderSize: 300_000,
  // undici's timeouts are off, because they are coarse (a second), separate for headers and body, and cut off a model that thinks
  // for five minutes. Setting them on a copy of each request took a fifth of a poll's processor time.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** A part that can be closed. Errors of closing are ignored, because they concern no request. */
interface Closable {
  destroy(): unknown;
}
type Keep = <P extends Closable>(part: P) => P;

/** Connections to one origin: direct, through a tunnel of the proxy (https), or to the proxy itself (plain http). */
export class Connections {
  readonly #open = new Set<Closable>();
  #pool: Promise<Dispatcher> | undefined;

  /** Does not connect or load undici yet. `target`: origin of the service. `connectTimeout`: ms. */
  constructor(
    private readonly target: URL,
    private readonly proxy: ProxyAddress | undefined,
    private readonly connectTimeout: number,
  ) {}

  /** Returns the pool of connections that are kept alive, for requests that may be repeated. */
  getShared(): Promise<Dispatcher> {
    this.#pool ??= this.#openPool(this.#keep);
    return this.#pool;
  }

  /** Opens a connection for `use` alone. A create request needs it, because the peer may have closed a reused connection meanwhile. */
  async useFresh<T>(use: (dispatcher: Dispatcher) => Promise<T>): Promise<T> {
    const parts: Closable[] = [];
    const keep: Keep = (part) => {
      parts.push(part);
      return this.#keep(part);
    };
    try {
      if (this.proxy && this.target.protocol === "https:") return await use(await this.#openPool(keep));
      const peer = this.proxy?.url ?? this.target;
      // The connection opens while undici loads.
      const connection = keep(openFreshConnection(peer, this.connectTimeout));
      return await use(keep(await createSingleConnectionDispatcher(peer.origin, connection)));
    } finally {
      for (const part of parts) this.#open.delete(part);
      await closeAllIgnoringErrors(parts);
    }
  }

  /** Rewrites a plain http request to the absolute form for the proxy (RFC 9112 §3.2.2): many proxies allow CONNECT only to port 443. */
  routeRequest<R extends WireRequest>(request: R): R {
    const proxy = this.proxy;
    if (!proxy || !request.origin.startsWith("http:")) return request;
    const { host } = new URL(request.origin);
    const login = proxy.authorization && { "proxy-authorization": proxy.authorization };
    return {
      ...request,
      origin: proxy.url.origin,
      path: request.origin + request.path,
      headers: { ...request.headers, host, ...login },
    };
  }

  /** Closes every connection at once, so that none keeps the process alive. Never rejects. */
  async close(): Promise<void> {
    await closeAllIgnoringErrors(this.#open);
  }

  readonly #keep: Keep = (part) => {
    this.#open.add(part);
    return part;
  };

  async #openPool(keep: Keep): Promise<Dispatcher> {
    const { target, proxy, connectTimeout } = this;
    const { Pool, symbols } = await import("./undici.js");
    const isTunnel = proxy !== undefined && target.protocol === "https:";
    const peer = isTunnel ? target : (proxy?.url ?? target);
    const closing = new AbortController();
    keep({ destroy: () => closing.abort() });
    const connect = isTunnel
      ? await createTunnelConnector(proxy, target, connectTimeout, closing.signal)
      : await createConnector(peer, connectTimeout);
    return keep(
      ignore100Continue(new Pool(peer.origin, { ...LIMITS, connections: POOL_SIZE, connect }), symbols),
    );
  }
}

async function closeAllIgnoringErrors(parts: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...parts].map(async (part) => part.destroy()));
}

/** Returns a dispatcher that uses only `connection` and never opens another. */
async function createSingleConnectionDispatcher(
  origin: string,
  connection: FreshConnection,
): Promise<Dispatcher> {
  const { Client, symbols } = await import("./undici.js");
  const client = new Client(origin, {
    ...LIMITS,
    connect: (_options, callback) => {
      connection.waitUntilReady().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
  return ignore100Continue(client, symbols);
}

/** The part of undici's HTTP/1 parser (client-h1.js) that `ignore100Continue` replaces. Each connection has its own parser. */
interface Parser {
  onHeadersComplete(statusCode: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

/** Makes undici ignore `100 Continue` (RFC 9110 §15.2) by showing it a 102. It fails on a 100, unlike on other interim statuses (client-h1.js). */
function ignore100Continue<T extends Dispatcher>(
  dispatcher: T,
  { kSocket, kParser }: { readonly kSocket: symbol; readonly kParser: symbol },
): T {
  dispatcher.on("connect", (_origin, targets) => {
    const client: object | undefined = targets.at(-1);
    const socket: object | undefined = client && Reflect.get(client, kSocket);
    const parser: Parser | undefined = socket && Reflect.get(socket, kParser);
    if (!parser) return;
    const { onHeadersComplete } = parser;
    parser.onHeadersComplete = (statusCode, ...rest) =>
      onHeadersComplete.call(parser, statusCode === 100 ? 102 : statusCode, ...rest);
  });
  return dispatcher;
}

/** How long to watch a new connection before use, ms. A reset comes within this time and proves that the create request was not sent. */
const SETTLE_MS = 15;
/** How many timers of 1 ms to await afterwards, so that Node reads what has arrived; more if a slow timer shows that the machine is busy. */
const ROUNDS = 2;
const ROUNDS_WHEN_BUSY = 12;
/** The longest duration of such a timer on an idle machine, ms. */
const QUIET_MS = 3;

type FreshConnection = ReturnType<typeof openFreshConnection>;

/** Starts to open a connection to the origin of `url` at once. `timeout`: ms. */
function openFreshConnection(url: URL, timeout: number) {
  const socket = openSocket(url);
  let failure: Error | undefined;
  let isHandedOver = false;
  const fail = (cause?: unknown) => {
    failure ??=
      cause instanceof Error ? cause : new Error("the connection was closed as soon as it was opened");
    socket.destroy();
  };
  const timer = setTimeout(() => fail(new Error("the connection was not open in time")), timeout);
  const openEvent = url.protocol === "https:" ? "secureConnect" : "connect";
  const untilSettled = new Promise<void>((resolve) => {
    socket.once("close", resolve).once(openEvent, () => {
      clearTimeout(timer);
      setTimeout(resolve, SETTLE_MS);
    });
  });
  socket.on("error", fail).on("end", fail).on("close", fail);
  return {
    /** Returns the socket once it has stayed open for SETTLE_MS. Rejects if it closed before, and on a second call. */
    async waitUntilReady(): Promise<Socket> {
      await untilSettled;
      let rounds = ROUNDS;
      for (let round = 0; round < rounds; round++) {
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (performance.now() - start > QUIET_MS) rounds = ROUNDS_WHEN_BUSY;
      }
      clearTimeout(timer);
      if (failure) throw failure;
      if (isHandedOver) throw new Error("the connection has been used");
      isHandedOver = true;
      socket.off("error", fail).off("end", fail).off("close", fail);
      return socket;
    },
    destroy() {
      if (!isHandedOver) socket.destroy();
    },
  };
}

function openSocket(url: URL): Socket {
  // Load each module on demand, because most commands open no such connection.
  const net = process.getBuiltinModule("node:net");
  const to = buildConnectOptions(url);
  if (url.protocol === "http:") return net.connect(to);
  const { connect } = process.getBuiltinModule("node:tls");
  const servername = net.isIP(to.host) ? {} : { servername: to.host };
  return connect({ ...to, ALPNProtocols: ["http/1.1"], ...servername });
}
