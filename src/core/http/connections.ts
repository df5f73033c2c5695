import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import type { ProxyAddress } from "./address.js";
import { connectOptions, createConnector, createTunnelConnector } from "./connect.js";
import type { WireRequest } from "./exchange.js";

export const POOL_SIZE = 256;

const LIMITS = {
  /** curl reads answers with up to 300 kB of headers; undici's own limit is 16 kB. */
  maxHeaderSize: 300_000,
  // undici's timeouts are off: they are coarse (a second), apart for headers and body, and end a model that thinks for
  // five minutes. Set for each request, in a copy of it, they took a fifth of a poll's processor time.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** An error while closing says nothing about any request, so none is passed on. */
interface Closable {
  destroy(): unknown;
}
type Keep = <P extends Closable>(part: P) => P;

/** Connections to one origin, direct or through a proxy: https through a tunnel, plain http to the proxy itself. */
export class Connections {
  readonly #open = new Set<Closable>();
  #pool: Promise<Dispatcher> | undefined;

  /** Opens and loads nothing yet, not even undici. `target`: origin of the service. `connectTimeout`: milliseconds. */
  constructor(
    private readonly target: URL,
    private readonly proxy: ProxyAddress | undefined,
    private readonly connectTimeout: number,
  ) {}

  /** Kept alive and shared: for everything that may be repeated. */
  getShared(): Promise<Dispatcher> {
    this.#pool ??= this.#openPool(this.#keep);
    return this.#pool;
  }

  /** One connection for `use` alone: a create never rides on one that the peer may have given up meanwhile. */
  async useFresh<T>(use: (dispatcher: Dispatcher) => Promise<T>): Promise<T> {
    const parts: Closable[] = [];
    const keep: Keep = (part) => {
      parts.push(part);
      return this.#keep(part);
    };
    try {
      if (this.proxy && this.target.protocol === "https:") return await use(await this.#openPool(keep));
      const peer = this.proxy?.url ?? this.target;
      // It opens and settles while undici is loaded.
      const connection = keep(openFreshConnection(peer, this.connectTimeout));
      return await use(keep(await createDispatcher(peer.origin, connection)));
    } finally {
      for (const part of parts) this.#open.delete(part);
      await closeAll(parts);
    }
  }

  /** A request as a proxy takes it: plain http in absolute form (RFC 9112 §3.2.2), since CONNECT is for port 443. */
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

  /** Ends every connection at once; nothing keeps the process alive afterwards. Never rejects. */
  async close(): Promise<void> {
    await closeAll(this.#open);
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
    const ended = new AbortController();
    keep({ destroy: () => ended.abort() });
    const connect = isTunnel
      ? await createTunnelConnector(proxy, target, connectTimeout, ended.signal)
      : await createConnector(peer, connectTimeout);
    return keep(
      acceptContinue(new Pool(peer.origin, { ...LIMITS, connections: POOL_SIZE, connect }), symbols),
    );
  }
}

async function closeAll(parts: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...parts].map(async (part) => part.destroy()));
}

/** Sends over one connection that is being opened already, and over none after it. */
async function createDispatcher(origin: string, connection: FreshConnection): Promise<Dispatcher> {
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
  return acceptContinue(client, symbols);
}

/** The parts of undici's HTTP/1 parser that are used here, for each connection (client-h1.js). */
interface Parser {
  onHeadersComplete(statusCode: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

/** RFC 9110 §15.2: a `100 Continue` is ignored. undici fails on it alone (client-h1.js), so it gets to see a 102. */
function acceptContinue<T extends Dispatcher>(
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

/** A peer that resets on accept does so within this time (ms); the create then provably never left. */
const SETTLE_MS = 15;
/** Timers of 1 ms that pass first: they read what came while the loop was busy. A slow one means a busy machine. */
const ROUNDS = 2;
const ROUNDS_WHEN_BUSY = 12;
/** Milliseconds that such a timer takes at most on a machine that is not busy. */
const QUIET_MS = 3;

type FreshConnection = ReturnType<typeof openFreshConnection>;

/** Begins to open a connection to the origin of `url` at once. `timeout` is in milliseconds. */
function openFreshConnection(url: URL, timeout: number) {
  const socket = open(url);
  let failure: Error | undefined;
  let isHandedOver = false;
  const fail = (cause?: unknown) => {
    failure ??=
      cause instanceof Error ? cause : new Error("the connection was closed as soon as it was open");
    socket.destroy();
  };
  const late = setTimeout(() => fail(new Error("the connection was not open in time")), timeout);
  const opened = url.protocol === "https:" ? "secureConnect" : "connect";
  const settled = new Promise<void>((resolve) => {
    socket.once("close", resolve).once(opened, () => {
      clearTimeout(late);
      setTimeout(resolve, SETTLE_MS);
    });
  });
  socket.on("error", fail).on("end", fail).on("close", fail);
  return {
    /** Hands its socket over once it has stayed open for SETTLE_MS. Rejects if it has not, and the second time. */
    async waitUntilReady(): Promise<Socket> {
      await settled;
      let rounds = ROUNDS;
      for (let round = 0; round < rounds; round++) {
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (performance.now() - start > QUIET_MS) rounds = ROUNDS_WHEN_BUSY;
      }
      clearTimeout(late);
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

function open(url: URL): Socket {
  // Both are loaded for this only: most commands make no connection of their own.
  const net = process.getBuiltinModule("node:net");
  const to = connectOptions(url);
  if (url.protocol === "http:") return net.connect(to);
  const { connect } = process.getBuiltinModule("node:tls");
  const servername = net.isIP(to.host) ? {} : { servername: to.host };
  return connect({ ...to, ALPNProtocols: ["http/1.1"], ...servername });
}
