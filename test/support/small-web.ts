import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../../src/core/clock.js";
import { Connections } from "../../src/core/http/origin-connections.js";
import type { ExchangeStore } from "../../src/core/researcher.js";
import type { Network } from "../../src/reader/fetching/page-fetcher.js";
import { splitDocument } from "../../src/reader/parsing/documents/split-document.js";
import { type EngineName, SearchEngine } from "../../src/reader/searching/search-engines.js";
import type { SourceProvider } from "../../src/reader/searching/source.js";
import { createWebSources, type WebOptions } from "../../src/reader/searching/web-source.js";
import { leftovers } from "./leftovers.js";
import { listen } from "./listen.js";

/** What a page answers: its HTML, or whatever a server can do. */
export type Page = string | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Request {
  at: number;
  /** `host/path` */
  address: string;
  headers: IncomingMessage["headers"];
}

/** A few hosts on one port of this machine. */
export interface SmallWeb {
  port: number;
  requests: Request[];
  /** `host/path` of the pages asked for, without robots.txt. */
  visited(): string[];
  /** How many connections are open. */
  open(): number;
  /** `http://host:port/path` */
  url(address: string): string;
  network: Network;
}

/**
 * Serves pages by `host/path`; what is not named is 404. Every name leads here, but for those in `elsewhere`: what
 * each lookup of it gives, one after the other.
 */
export async function smallWeb(
  pages: Record<string, Page>,
  elsewhere: Record<string, string[][]> = {},
): Promise<SmallWeb> {
  const requests: Request[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const address = `${(request.headers.host ?? "").replace(/:\d+$/, "")}${request.url}`;
    requests.push({ at: performance.now(), address, headers: request.headers });
    const page = pages[address];
    if (page === undefined) response.writeHead(404, { "content-type": "text/html" }).end("<p>not here</p>");
    else if (typeof page === "string") response.writeHead(200, { "content-type": "text/html" }).end(page);
    else page(response, request);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  const port = await listen(server);
  return {
    port,
    requests,
    visited: () => requests.map(({ address }) => address).filter((one) => !one.endsWith("/robots.txt")),
    open: () => sockets.size,
    url: (address) => `http://${address.replace("/", `:${port}/`)}`,
    network: {
      async resolve(name) {
        const lookups = elsewhere[name];
        return (lookups && lookups.length > 1 ? lookups.shift() : lookups?.[0]) ?? ["127.0.0.1"];
      },
      accessTo: (address, to) => (address === "127.0.0.1" && to === port ? "public" : undefined),
      proxyFor: () => undefined,
    },
  };
}

/** A SearXNG: `answers` has the addresses that it finds for each query. */
export async function searxng(
  answers: (query: string) => unknown,
): Promise<{ url: string; queries: string[] }> {
  const queries: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://engine");
    const query = url.searchParams.get("q") ?? "";
    if (url.pathname !== "/search" || url.searchParams.get("format") !== "json")
      return void response.writeHead(404).end();
    queries.push(query);
    const answer = answers(query);
    if (typeof answer === "function") return void answer(response);
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, queries };
}

/** An answer of SearXNG with these addresses. */
export function finds(...urls: string[]) {
  return {
    results: urls.map((url) => ({ url, title: `About ${url}`, content: "a snippet that nobody may quote" })),
  };
}

export interface WebSetting extends Partial<Omit<WebOptions, "engine">> {
  engine?: EngineName;
  apiKey?: string;
  logged?: string[];
}

/** The web as a source, found by the engine at `url`. */
export function webOf(url: string, network: Network, setting: WebSetting = {}): SourceProvider {
  const { engine: name = "searxng", apiKey, logged = [], ...options } = setting;
  const engine = new SearchEngine(
    name,
    new URL(url),
    apiKey,
    new Connections(new URL(url), undefined, 5_000),
  );
  const web = createWebSources({
    engine,
    network,
    // Its thread is a test of its own (documents.test.ts).
    read: async (task, signal) => {
      signal.throwIfAborted();
      return splitDocument(task);
    },
    exchanges: noExchanges,
    pages: 30,
    domains: [],
    notDomains: [],
    clock: systemClock satisfies Clock,
    version: "0",
    log: (line) => logged.push(line),
    ...options,
  });
  leftovers.add(() => void web.close());
  return web;
}

/** Keeps no exchanges. */
export const noExchanges: ExchangeStore = { read: async () => [], append: async () => {} };

/** Exchanges that outlive a researcher, and not a stop. */
export function keptExchanges(): ExchangeStore & { records: Map<string, object[]> } {
  const records = new Map<string, object[]>();
  return {
    records,
    read: async (id) => structuredClone(records.get(id) ?? []),
    append: async (id, record) => void records.set(id, [...(records.get(id) ?? []), structuredClone(record)]),
  };
}
