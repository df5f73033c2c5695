import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { promisify } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { buildConnector as Undici, Agent as UndiciAgent } from "undici";
import { type Clock, withDeadline } from "../../../clock.js";
import { Agent, apiParts, buildConnector, Client } from "../../../undici.js";
import type { HostGate } from "../../host-gate.js";
import { reasonOf } from "../model/endpoint/endpoint.js";

/** A proxy that requests are to go through; `authorization` is its `Proxy-Authorization`. */
export interface WebProxy {
  url: URL;
  authorization: string | undefined;
}

/** What a machine's network is to the web: handed in, so that tests can have a web of their own on loopback. */
export interface Network {
  /** The addresses of a host's name, the one to use first. Rejects if it has none. */
  resolve(name: string): Promise<string[]>;
  /** Whether a connection to that IP address and port may be opened. */
  isAllowed(address: string, port: number): boolean;
  /** Undefined for a direct connection. */
  proxyFor(url: URL): WebProxy | undefined;
}

/** The body of a page. */
export interface FetchedPage {
  /** Where it was in the end. */
  url: URL;
  /** As in "text/html". */
  type: string;
  /** As its sender names it. */
  charset: string | undefined;
  bytes: Uint8Array;
}

const TYPES = /^(?:text\/(?!css|javascript|ecmascript|calendar|vcard)[\w.+-]+|application\/xhtml\+xml)$/i;
const MEDIA_TYPE = /^\s*([^;\s]*)(?:.*?;\s*charset\s*=\s*["']?([\w.:-]+))?/is;
const MAX_REDIRECTS = 4;
/** Of a body, after what it is packed with is undone, in bytes. */
const MAX_BYTES = 8 * 1_048_576;
/** For a page with its redirects, but without the wait for its host, ms. */
const PAGE_MS = 20_000;
const CONNECT_MS = 10_000;
const MAX_URL = 2_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const UNPACK = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const openSocket = promisify(buildConnector({ timeout: CONNECT_MS, allowH2: false }));

/** Why a page is left out, as a phrase; `status` is that of an answer that is not a page. */
export interface NoPage {
  reason: string;
  status?: number;
}

/** The reason of a NoPage, from where only an error can be thrown. */
class LeftOut extends Error {}

/**
 * Fetches pages for one research. Each name is resolved once, the address is checked, and the connection goes to that
 * very address, through a proxy too. It sends no cookie and no key. `signal` closes every socket.
 */
export class PageFetcher {
  readonly #agent: UndiciAgent;
  readonly #addresses = new Map<string, string[] | Promise<string[]>>();
  constructor(
    private readonly options: { network: Network; clock: Clock; gate: HostGate; userAgent: string },
    private readonly signal: AbortSignal,
  ) {
    const connect: Undici.connector = (target, callback) =>
      void this.#connect(target).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    // Each page that waits, and each connection of a tunnel, listens to it.
    setMaxListeners(0, signal);
    this.#agent = new Agent({ connect, connections: 2, keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });
    signal.addEventListener("abort", () => void this.#agent.destroy(), { once: true });
  }

  /**
   * A page. `refusalOf` says why an address, that of a redirect too, must not be asked for; without it it is a
   * robots.txt, of any type, which is fetched once for an origin and does not wait its turn before the first page.
   * Rejects with `signal.reason` alone.
   */
  async fetch(
    address: URL,
    refusalOf?: (url: URL) => Promise<string | undefined>,
  ): Promise<FetchedPage | NoPage> {
    const { clock, gate } = this.options;
    let url = address;
    let leftMs = PAGE_MS;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const refusal = unfit(url) ?? (await refusalOf?.(url));
      if (refusal !== undefined) return { reason: refusal };
      const leave = refusalOf && (await gate.enter(url.host, this.signal));
      const begun = clock.monotonic();
      const late = new LeftOut(`it was not there after ${PAGE_MS / 1_000} s`);
      try {
        const got = await withDeadline(clock, leftMs, this.signal, late, (signal) =>
          this.#exchange(url, refusalOf ? TYPES : /^/, signal),
        );
        if (!(got instanceof URL)) return got;
        url = got;
        url.hash = "";
      } catch (error) {
        this.signal.throwIfAborted();
        const reason = reasonOf(error);
        return { reason: error instanceof LeftOut ? reason : `it could not be fetched: ${reason}` };
      } finally {
        leave?.();
      }
      leftMs -= clock.monotonic() - begun;
    }
    return { reason: `it redirects more than ${MAX_REDIRECTS} times` };
  }

  /** One request: the page, or where it redirects to. */
  async #exchange(url: URL, types: RegExp, signal: AbortSignal): Promise<FetchedPage | NoPage | URL> {
    const { request } = await apiParts();
    const { statusCode, headers, body } = await request.call(this.#agent, {
      origin: url.origin,
      path: url.pathname + url.search,
      method: "GET",
      headers: {
        "user-agent": this.options.userAgent,
        accept: "text/html,application/xhtml+xml,text/plain;q=0.9,text/*;q=0.8",
        "accept-encoding": "gzip, deflate, br",
      },
      signal,
    });
    try {
      const { location, "content-type": media = "", "content-encoding": encoding = "" } = headers;
      if (REDIRECTS.has(statusCode) && location !== undefined) {
        if (!URL.canParse(`${location}`, url.href)) return { reason: "it redirects to an invalid address" };
        return new URL(`${location}`, url);
      }
      if (statusCode !== 200) return { reason: `it answered ${statusCode}`, status: statusCode };
      const [, type = "", charset] = MEDIA_TYPE.exec(`${media}`) ?? [];
      if (!types.test(type)) return { reason: type === "" ? "it has no media type" : `not text but ${type}` };
      const bytes = await bodyOf(body, `${encoding}`.trim().toLowerCase());
      return { url, type: type.toLowerCase(), charset, bytes };
    } finally {
      // What was not read is not waited for.
      body.on("error", () => {}).destroy();
    }
  }

  /** A connection to the checked address of a host, through the proxy if there is one. */
  async #connect(target: Undici.Options): Promise<Socket> {
    const { network } = this.options;
    const isTls = target.protocol === "https:";
    const port = Number(target.port || (isTls ? 443 : 80));
    const name = target.hostname.replace(/^\[|\]$/g, "");
    const known = this.#addresses.get(name) ?? (isIP(name) ? [name] : network.resolve(name).catch(() => []));
    this.#addresses.set(name, known);
    const addresses = await known;
    const [hostname] = addresses;
    if (hostname === undefined) throw new LeftOut("its name has no address");
    if (!addresses.every((each) => network.isAllowed(each, port)))
      throw new LeftOut("it is not on the public internet");
    this.signal.throwIfAborted();
    const proxy = network.proxyFor(new URL(`${target.protocol}//${target.hostname}:${port}`));
    const authority = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
    const httpSocket = proxy && (await tunnel(proxy, authority, this.signal));
    if (httpSocket && !isTls) return httpSocket;
    const servername = isIP(name) ? "" : name;
    const checked = { ...target, hostname, servername, ...(httpSocket && { httpSocket }) };
    // Null comes only with an error.
    return (await openSocket(checked)) as Socket;
  }
}

/** A connection to `target` (`address:port`) through a proxy. */
async function tunnel(proxy: WebProxy, target: string, signal: AbortSignal): Promise<Socket> {
  const { authorization, url } = proxy;
  const client = new Client(url.origin, { connectTimeout: CONNECT_MS });
  try {
    const headers = { host: target, ...(authorization && { "proxy-authorization": authorization }) };
    const { connect } = await apiParts();
    const request = { origin: url.origin, path: target, headers, signal };
    const { socket, statusCode } = await connect.call(client, request);
    const tunnelled = socket as Socket;
    signal.addEventListener("abort", () => tunnelled.destroy(), { once: true });
    if (statusCode === 200) return tunnelled;
    tunnelled.destroy();
    throw new LeftOut(`the proxy answered ${statusCode}`);
  } finally {
    void client.close().catch(() => {});
  }
}

function unfit({ protocol, username, password, href }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") return "its address is not http or https";
  if (username !== "" || password !== "") return "its address has a user name";
  return href.length > MAX_URL ? "its address is too long" : undefined;
}

/** The whole body, unpacked. Throws if it has too many bytes. */
export async function bodyOf(body: Readable, encoding = ""): Promise<Buffer> {
  const isPlain = encoding === "" || encoding === "identity";
  const unpack = UNPACK[encoding as keyof typeof UNPACK];
  if (!isPlain && unpack === undefined) throw new LeftOut(`its encoding is unknown: ${encoding}`);
  // A failure of the body is one of what unpacks it.
  const stream = isPlain ? body : pipeline(body, unpack(), () => {});
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > MAX_BYTES) throw new LeftOut(`larger than ${MAX_BYTES / 1_048_576} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}
