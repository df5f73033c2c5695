import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { promisify } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { buildConnector as Undici, Agent as UndiciAgent } from "undici";
import { type Clock, runWithDeadline } from "../../core/clock.js";
import type { ProxyAddress } from "../../core/http/base-url-and-proxy.js";
import { describeConnectFailure } from "../../core/http/send-request.js";
import { Agent, buildConnector, loadDispatcherMethods } from "../../core/http/undici.js";
import { openProxyTunnel } from "../../core/http/undici-connectors.js";
import { type PageKind, PDF } from "../parsing/documents/document-reader.js";
import type { HostGate } from "./host-gate.js";

/** "private": the user allowed this address, which is not on the public internet; its requests need no spacing. */
export type Access = "public" | "private";

/** Access to the network; tests pass one that allows their own web servers on loopback. */
export interface Network {
  /** Resolves a host name to its addresses, the preferred one first. Rejects like the resolver of `createDnsResolver`. */
  resolve(name: string, signal: AbortSignal): Promise<string[]>;
  /**
   * Decides whether a connection to an IP address and port may be opened; undefined if not. `asked` is the requested
   * host; undefined if a redirect from another host leads there.
   */
  accessTo(address: string, port: number, asked: string | undefined): Access | undefined;
  /** Returns the proxy for a URL; undefined for a direct connection. */
  proxyFor(url: URL): ProxyAddress | undefined;
}

/** A page as it was received, with the address after all redirects. */
export type FetchedPage = PageKind & { url: URL; bytes: Uint8Array };

const TYPES =
  /^(?:text\/(?!css|javascript|ecmascript|calendar|vcard)[\w.+-]+|application\/(?:xhtml\+xml|pdf))$/i;
const MEDIA_TYPE = /^\s*([^;\s]*)(?:.*?;\s*charset\s*=\s*["']?([\w.:-]+))?/is;
const MAX_REDIRECTS = 4;
/** The largest decompressed body, in bytes, and the largest PDF if sentences that cite it are checked. */
const MAX_BYTES = 8 * 1_048_576;
const MAX_PDF_BYTES = 32 * 1_048_576;
/** The time limit for a page with its redirects, not counting the waits for its hosts, ms. */
const PAGE_MS = 20_000;
const CONNECT_MS = 10_000;
/** The longest address that is requested, in characters. */
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
 * Why a page could not be read. "gone": 404 or 410; "no-host": the name does not exist in the DNS; "front-page": redirected
 * there from a deeper address; "status": another HTTP status; "silent": no answer in time; "unreachable": no connection or
 * DNS, or a broken answer; "robots"; "type"; "empty": no text without scripts; "too-large"; "unreadable"; "not-asked".
 */
export type NoPageKind =
  | ("gone" | "no-host" | "front-page" | "status" | "silent" | "unreachable")
  | ("robots" | "type" | "empty" | "too-large" | "unreadable" | "not-asked");

export interface NoPage {
  kind: NoPageKind;
  /** A phrase whose subject is the page. */
  reason: string;
  /** The HTTP status, if there was an answer. */
  status?: number;
  /** The final address. */
  url?: string;
}

/** Thrown inside PageFetcher, which catches it and returns a NoPage of this kind with the message as reason. */
class PageLeftOutError extends Error {
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
  /** Returns why an address must not be requested, even if its robots.txt allows it. */
  forbidden: (url: URL) => string | undefined;
  /**
   * Whether sentences that cite the pages are checked. If so, all text of a page is read in addition to its blocks, and a
   * redirect from a deeper address to the front page of the same site counts as a missing page (`front-page`).
   */
  areCited?: boolean;
}

/**
 * Fetches pages for one question. Resolves each name once, checks the address, and connects to exactly that address,
 * even through a proxy. Sends no cookie and no key. When `signal` aborts, every socket is closed.
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
    // Each waiting page and each tunnel connection adds a listener.
    setMaxListeners(0, signal);
    this.#agent = new Agent({ connect, connections: 2, keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });
    signal.addEventListener("abort", () => void this.#agent.destroy(), { once: true });
  }

  /**
   * Fetches a page. `robots` returns why the rules of a site forbid an address; it is asked about redirects as well.
   * Without `robots`, fetches a robots.txt of any media type, and does not wait for the host's gate. Rejects only with
   * `signal.reason`; all other failures are returned.
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
      const refusal = explainUnfitUrl(url) ?? (robots && forbidden(url));
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
        const late = new PageLeftOutError("silent", `it did not arrive within ${PAGE_MS / 1_000} s`);
        const got = await runWithDeadline(clock, leftMs, this.signal, late, (signal) =>
          this.#exchange(url, robots ? TYPES : /^/, signal),
        );
        if (!(got instanceof URL)) return "reason" in got ? { ...got, url: url.href } : got;
        url = got;
        url.hash = "";
      } catch (error) {
        this.signal.throwIfAborted();
        const reason = describeConnectFailure(error);
        if (error instanceof PageLeftOutError) return { kind: error.kind, reason, url: url.href };
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

  /** Decides about access to a host from the same addresses that `#connect` uses. Throws PageLeftOutError. */
  async #access({ hostname, protocol, port: given }: URL, isAsked: boolean): Promise<Access> {
    const port = Number(given || (protocol === "https:" ? 443 : 80));
    const addresses = await this.#resolveAddresses(hostname).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTFOUND") throw new PageLeftOutError("no-host", "its name does not exist");
      throw new PageLeftOutError(
        "unreachable",
        `its name has no address: ${error.code ?? describeConnectFailure(error)}`,
      );
    });
    const all = addresses.map((each) =>
      this.options.network.accessTo(each, port, isAsked ? hostname : undefined),
    );
    if (all.includes(undefined)) throw new PageLeftOutError("not-asked", "it is not on the public internet");
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

  /** Sends one request; returns the page, or the target of a redirect. */
  async #exchange(url: URL, types: RegExp, signal: AbortSignal): Promise<FetchedPage | NoPage | URL> {
    const { request } = await loadDispatcherMethods();
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
      const bytes = await readPageBody(body, `${encoding}`.trim().toLowerCase(), most);
      return { url, type: type.toLowerCase(), charset, bytes };
    } finally {
      // Close the connection instead of reading the rest.
      body.on("error", () => {}).destroy();
    }
  }

  /** Connects to the address that `#access` has checked, through a proxy if the network names one. */
  async #connect(target: Undici.Options): Promise<Socket> {
    const { network } = this.options;
    const isTls = target.protocol === "https:";
    const port = Number(target.port || (isTls ? 443 : 80));
    const name = target.hostname.replace(/^\[|\]$/g, "");
    const [hostname = ""] = await this.#resolveAddresses(name);
    this.signal.throwIfAborted();
    const formatHost = (host: string) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const proxy = network.proxyFor(new URL(`${target.protocol}//${formatHost(name)}`));
    const httpSocket = proxy && (await openProxyTunnel(proxy, formatHost(hostname), CONNECT_MS, this.signal));
    if (httpSocket && !isTls) return httpSocket;
    const servername = isIP(name) ? "" : name;
    const checked = { ...target, hostname, servername, ...(httpSocket && { httpSocket }) };
    // openSocket resolves with null only if it failed, and then it has thrown.
    return (await openSocket(checked)) as Socket;
  }
}

/** Returns what makes an address unfit for a request, whatever the host is, as a phrase; undefined if the address is fit. */
export function explainUnfitUrl({ protocol, username, password, href }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") return "its address is not http or https";
  if (username !== "" || password !== "") return "its address has a user name";
  return href.length > MAX_URL ? "its address is too long" : undefined;
}

/** Reads and decompresses a whole body. Throws PageLeftOutError if it is larger than `most` bytes or has an unknown encoding. */
export async function readPageBody(body: Readable, encoding = "", most = MAX_BYTES): Promise<Buffer> {
  const isPlain = encoding === "" || encoding === "identity";
  const unpack = UNPACK[encoding as keyof typeof UNPACK];
  if (!isPlain && unpack === undefined)
    throw new PageLeftOutError("unreadable", `its encoding is unknown: ${encoding}`);
  // The pipeline passes a failure of the body on to the decompressor.
  const stream = isPlain ? body : pipeline(body, unpack(), () => {});
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > most) throw new PageLeftOutError("too-large", `larger than ${most / 1_048_576} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}
