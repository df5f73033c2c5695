import type { Dispatcher } from "undici";
import { openFreshConnection } from "./fresh-connection.js";
import type { ProxyAddress } from "./proxy.js";
import type { WireRequest } from "./transport.js";

/** Polls that may be under way at once, each on a connection of its own. */
export const POOL_SIZE = 16;

/** An error while closing says nothing about any request, so none is passed on. */
interface Closable {
  destroy(): unknown;
}

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
  async shared(): Promise<Dispatcher> {
    this.#pool ??= this.#openPool();
    const pool = await this.#pool;
    this.#open.add(pool);
    return pool;
  }

  /** One connection for `use` alone: a create never rides on one that the peer may have given up meanwhile. */
  async fresh<T>(use: (dispatcher: Dispatcher) => Promise<T>): Promise<T> {
    const parts: Closable[] = [];
    const keep = <P extends Closable>(part: P): P => {
      parts.push(part);
      this.#open.add(part);
      return part;
    };
    try {
      if (this.proxy && this.target.protocol === "https:") return await use(keep(await this.#openPool()));
      const peer = this.proxy?.url ?? this.target;
      // It opens and settles while undici is loaded.
      const connection = keep(openFreshConnection(peer, this.connectTimeout));
      const { fresh } = await import("./dispatchers.js");
      return await use(keep(fresh(peer.origin, connection)));
    } finally {
      for (const part of parts) this.#open.delete(part);
      await closeAll(parts);
    }
  }

  /** A request as a proxy takes it: plain http in absolute form (RFC 9112 §3.2.2), since CONNECT is for port 443. */
  route<R extends WireRequest>(request: R): R {
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

  async #openPool(): Promise<Dispatcher> {
    const { pool } = await import("./dispatchers.js");
    return await pool(this.target, this.proxy, POOL_SIZE, this.connectTimeout);
  }
}

async function closeAll(parts: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...parts].map(async (part) => part.destroy()));
}
