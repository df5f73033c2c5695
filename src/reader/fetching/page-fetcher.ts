import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { promisify } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { buildConnector as Undici, Agent as UndiciAgent } from "undici";
import { type Clock, runWithDeadline } from "../../core/clock.js";
import type { ProxyAddress } from "../../core/http/address.js";
import { openTunnel } from "../../core/http/connect.js";
import { describeReason } from "../../core/http/exchange.js";
import { Agent, buildConnector, loadApiParts } from "../../core/http/undici.js";
import { type PageKind, PDF } from "../reading/documents/document.js";
import type { HostGate } from "./host-gate.js";

/** "private": allowed, though it is no address of the public internet; its requests need not be kept apart. */
export type Access = "public" | "private";

/** What a machine's network is to the web: handed in, so that tests can have a web of their own on loopback. */
export interface Network {
  /** The addresses of a host's name, the one to use first; rejects as `createResolver` says. */
  resolve(name: string, signal: AbortSignal): Promise<string[]>;
  /**
   * What a connection to that IP address and port is; undefined if it must not be opened. `asked` is the host that was
   * asked for, and undefined for one that a redirect of another host leads to.
   */
  accessTo(address: string, port: number, asked: string | undefined): Access | undefined;
  /** Undefined for a direct connection. */
  proxyFor(url: URL): ProxyAddress | undefined;
}

/** The body of a page, and where it was in the end. */
export type FetchedPage = PageKind & { url: URL; bytes: Uint8Array };

const TYPES =
  /^(?:text\/(?!css|javascript|ecmascript|calendar|vcard)[\w.+-]+|application\/(?:xhtml\+xml|pdf))$/i;
const MEDIA_TYPE = /^\s*([^;\s]*)(?:.*?;\s*charset\s*=\s*["']?([\w.:-]+))?/is;
const MAX_REDIRECTS = 4;
/** Of a body, after what it is packed with is undone, in bytes; and of a PDF that is cited. */
const MAX_BYTES = 8 * 1_048_576;
const MAX_PDF_BYTES = 32 * 1_048_576;
/** For a page with its redirects, but without the wait for its host, ms. */
const PAGE_MS = 20_000;
const CONNECT_MS = 10_000;
/** A longer address is not asked for, in characters. */
const MAX_URL = 2_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const UNPACK = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const openSocket = promisify(buildConnector({ timeout: CONNECT_MS, allowH2: false }));

/**
 * Why there is no page: "gone" (404, 410); "no-host": the DNS says that there is no such name; "front-page": a redirect
 * from a deeper address leads there; "status": another answer; "silent"; "unreachable": no connection, no DNS, or a
 * broken answer; "robots"; "type"; "empty": no text without its scripts; "too-large"; "unreadable"; "not-asked".
 */
export type NoPageKind =
  | ("gone" | "no-host" | "front-page" | "status" | "silent" | "unreachable")
  | ("robots" | "type" | "empty" | "too-large" | "unreadable" | "not-asked");

export interface NoPage {
  kind: NoPageKind;
  /** As a phrase. */
  reason: string;
  /** Of the answer, if there was one. */
  status?: number;
  /** Where it was in the end. */
  url?: string;
}

/** The reason of a NoPage, from where only an error can be thrown. */
class LeftOut extends Error {
  constructor(
    readonly kind: NoPageKind,
    message: string,
  ) {
    super(message);
  }
}

export interface FetcherOptions {
  network: Network;
  clock: Clock;
  gate: HostGate;
  userAgent: string;
  /** Why no request may go to an address, whatever its robots.txt says. */
  forbidden: (url: URL) => string | undefined;
  /**
   * Whether sentences that cite the pages are held against them. All text of a page is then read beside its blocks, and a
   * redirect from a deeper address to the front page of the same site counts as a missing page (`front-page`).
   */
  areCited?: boolean;
}

/**
 * Fetches pages for one research. Each name is resolved once, the address is checked, and the connection goes to that
 * very address, through a proxy too. It sends no cookie and no key. `signal` closes every socket.
 */
export class PageFetcher {
  readonly #agent: UndiciAgent;
  readonly #addresses = new Map<string, Promise<string[]>>();
  constructor(
    private readonly options: FetcherOptions,
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
   * A page. `robots` says why its site does not want an address to be asked for, that of a redirect too; without it the page
   * is a robots.txt, of any type, which is fetched once for an origin and does not wait its turn before the first page.
   * Rejects with `signal.reason` alone.
   */
  async fetch(
    address: URL,
    robots?: (url: URL) => Promise<NoPage | undefined>,
  ): Promise<FetchedPage | NoPage> {
    const { clock, gate, forbidden } = this.options;
    let url = address;
    let leftMs = PAGE_MS;
    let isAsked = true;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const refusal = explainUnfit(url) ?? (robots && forbidden(url));
      if (refusal !== undefined) return { kind: "not-asked", reason: refusal, url: url.href };
      isAsked &&= url.hostname === address.hostname;
      let leave: (() => void) | undefined;
      let begun = clock.monotonic();
      try {
        const access = await this.#access(url, isAsked);
        const forbids = await robots?.(url);
        if (forbids !== undefined) return { ...forbids, url: url.href };
        leave = robots && (await gate.enter(url.host, this.signal, access === "private"));
        begun = clock.monotonic();
        const late = new LeftOut("silent", `it was not there after ${PAGE_MS / 1_000} s`);
        const got = await runWithDeadline(clock, leftMs, this.signal, late, (signal) =>
          this.#exchange(url, robots ? TYPES : /^/, signal),
        );
        if (!(got instanceof URL)) return "reason" in got ? { ...got, url: url.href } : got;
        url = got;
        url.hash = "";
      } catch (error) {
        this.signal.throwIfAborted();
        const reason = describeReason(error);
        if (error instanceof LeftOut) return { kind: error.kind, reason, url: url.href };
        return { kind: "unreachable", reason: `it could not be fetched: ${reason}`, url: url.href };
      } finally {
        leave?.();
      }
      leftMs -= clock.monotonic() - begun;
    }
    return {
      kind: "unreadable",
      reason: `it redirects more than ${MAX_REDIRECTS} times`,
      url: url.href,
    };
  }

  /** What a host is to us. Its addresses are the ones that `#connect` uses. */
  async #access({ hostname, protocol, port: given }: URL, isAsked: boolean): Promise<Access> {
    const port = Number(given || (protocol === "https:" ? 443 : 80));
    const addresses = await this.#resolveAddresses(hostname).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTFOUND") throw new LeftOut("no-host", "its name does not exist");
      throw new LeftOut("unreachable", `its name has no address: ${error.code ?? describeReason(error)}`);
    });
    const all = addresses.map((each) =>
      this.options.network.accessTo(each, port, isAsked ? hostname : undefined),
    );
    if (all.includes(undefined)) throw new LeftOut("not-asked", "it is not on the public internet");
    return all.includes("private") ? "private" : "public";
  }

  #resolveAddresses(hostname: string): Promise<string[]> {
    const name = hostname.replace(/^\[|\]$/g, "");
    const { network } = this.options;
    const resolved =
      this.#addresses.get(name) ??
      (isIP(name) ? Promise.resolve([name]) : network.resolve(name, this.signal));
    this.#addresses.set(name, resolved);
    return resolved;
  }

  /** One request: the page, or where it redirects to. */
  async #exchange(url: URL, types: RegExp, signal: AbortSignal): Promise<FetchedPage | NoPage | URL> {
    const { request } = await loadApiParts();
    const { statusCode, headers, body } = await request.call(this.#agent, {
      origin: url.origin,
      path: url.pathname + url.search,
      method: "GET",
      headers: {
        "user-agent": this.options.userAgent,
        accept: "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.8,text/*;q=0.8",
        "accept-encoding": "gzip, deflate, br",
      },
      signal,
    });
    try {
      const { location, "content-type": media = "", "content-encoding": encoding = "" } = headers;
      if (REDIRECTS.has(statusCode) && location !== undefined) {
        if (!URL.canParse(`${location}`, url.href))
          return { kind: "unreadable", reason: "it redirects to an invalid address", status: statusCode };
        return new URL(`${location}`, url);
      }
      if (statusCode !== 200) {
        const kind = statusCode === 404 || statusCode === 410 ? "gone" : "status";
        return { kind, reason: `it answered ${statusCode}`, status: statusCode };
      }
      const [, type = "", charset] = MEDIA_TYPE.exec(`${media}`) ?? [];
      if (!types.test(type)) {
        const reason = type === "" ? "it has no media type" : `not text but ${type}`;
        return { kind: "type", reason, status: statusCode };
      }
      const most = type.toLowerCase() === PDF && this.options.areCited ? MAX_PDF_BYTES : MAX_BYTES;
      const bytes = await readBody(body, `${encoding}`.trim().toLowerCase(), most);
      return { url, type: type.toLowerCase(), charset, bytes };
    } finally {
      // What was not read is not waited for.
      body.on("error", () => {}).destroy();
    }
  }

  /** A connection to the address of a host, which `#access` has checked, through the proxy if there is one. */
  async #connect(target: Undici.Options): Promise<Socket> {
    const { network } = this.options;
    const isTls = target.protocol === "https:";
    const port = Number(target.port || (isTls ? 443 : 80));
    const name = target.hostname.replace(/^\[|\]$/g, "");
    const [hostname = ""] = await this.#resolveAddresses(name);
    this.signal.throwIfAborted();
    const formatHost = (host: string) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const proxy = network.proxyFor(new URL(`${target.protocol}//${formatHost(name)}`));
    const httpSocket = proxy && (await openTunnel(proxy, formatHost(hostname), CONNECT_MS, this.signal));
    if (httpSocket && !isTls) return httpSocket;
    const servername = isIP(name) ? "" : name;
    const checked = { ...target, hostname, servername, ...(httpSocket && { httpSocket }) };
    // Null comes only with an error.
    return (await openSocket(checked)) as Socket;
  }
}

/** Why an address is not asked for, whatever its host is, as a phrase. */
export function explainUnfit({ protocol, username, password, href }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") return "its address is not http or https";
  if (username !== "" || password !== "") return "its address has a user name";
  return href.length > MAX_URL ? "its address is too long" : undefined;
}

/** The whole body, unpacked. Throws if it has too many bytes. */
export async function readBody(body: Readable, encoding = "", most = MAX_BYTES): Promise<Buffer> {
  const isPlain = encoding === "" || encoding === "identity";
  const unpack = UNPACK[encoding as keyof typeof UNPACK];
  if (!isPlain && unpack === undefined)
    throw new LeftOut("unreadable", `its encoding is unknown: ${encoding}`);
  // A failure of the body is one of what unpacks it.
  const stream = isPlain ? body : pipeline(body, unpack(), () => {});
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > most) throw new LeftOut("too-large", `larger than ${most / 1_048_576} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}
