import { dispatchRequest } from "../../core/http/dispatch-request.js";
import type { Connections } from "../../core/http/origin-connections.js";
import { describeConnectFailure } from "../../core/http/send-request.js";
import { isObject, tryParseJson } from "../../core/json/exact-json.js";
import { readPageBody } from "../fetching/page-fetcher.js";

/** A result of a search engine. The snippet is ignored, because only a page that was fetched can be quoted. */
export interface SearchResult {
  url: string;
  title: string;
}

/** How to query an engine, and where its answer contains the results. */
export interface Engine {
  /** The address of its interface; undefined for an engine that the user runs. */
  url?: string;
  /** Builds the header that carries the key; undefined if the engine needs no key. */
  header?: (key: string) => Record<string, string>;
  /** Whether the query is sent as a JSON body instead of in the address. */
  isPost?: boolean;
  ask: (query: string, count: number) => Record<string, string | number>;
  /** The path to the list of results; default `results`. */
  results?: readonly string[];
  /** The property with a result's address; default `url`. */
  address?: string;
  /** A property of every valid answer. If an answer has it but no list of results, the results are empty. */
  mark?: string;
}

/** The supported engines, as their documentation describes them. */
export const ENGINES = {
  searxng: { ask: (q) => ({ q, format: "json" }) },
  brave: {
    url: "https://api.search.brave.com/res/v1/web/search",
    header: (key) => ({ "x-subscription-token": key }),
    ask: (q, count) => ({ q, count }),
    results: ["web", "results"],
    mark: "type",
  },
  tavily: {
    url: "https://api.tavily.com/search",
    header: (key) => ({ authorization: `Bearer ${key}` }),
    isPost: true,
    ask: (query, max_results) => ({ query, max_results }),
  },
  exa: {
    url: "https://api.exa.ai/search",
    header: (key) => ({ "x-api-key": key }),
    isPost: true,
    ask: (query, numResults) => ({ query, numResults }),
  },
  serper: {
    url: "https://google.serper.dev/search",
    header: (key) => ({ "x-api-key": key }),
    isPost: true,
    ask: (q, num) => ({ q, num }),
    results: ["organic"],
    address: "link",
    mark: "searchParameters",
  },
} as const satisfies Record<string, Engine>;
export type EngineName = keyof typeof ENGINES;

/** The longest title, in characters; longer ones are cut. */
const MAX_TITLE = 300;

/** The answer of an engine, best result first. */
export interface SearchOutcome {
  results: SearchResult[];
  /** Why there are no results, as a phrase whose subject is the engine. */
  failure?: string;
  /** Whether a retry of the same query would fail as well. */
  isFinal?: boolean;
}

export function buildFailedSearch(failure: string, isFinal = true): SearchOutcome {
  return { results: [], failure, isFinal };
}

/** A search engine with a JSON interface. */
export class SearchEngine {
  /** `url` is the engine's own address; for SearXNG the base address, with or without `/search`. */
  constructor(
    readonly name: EngineName,
    readonly url: URL,
    private readonly apiKey: string | undefined,
    private readonly connections: Connections,
  ) {}

  /** Returns at most `count` results. Rejects only with `signal.reason`; other failures are returned. */
  async ask(query: string, count: number, signal: AbortSignal): Promise<SearchOutcome> {
    const { name, url, apiKey, connections } = this;
    const engine: Engine = ENGINES[name];
    const { isPost = false, header } = engine;
    const asked = engine.ask(query, count);
    const path = engine.url ? url.pathname : `${url.pathname.replace(/\/(?:search\/?)?$/, "")}/search`;
    const request = {
      origin: url.origin,
      method: isPost ? "POST" : "GET",
      path: isPost ? path : `${path}?${new URLSearchParams(asked as Record<string, string>)}`,
      headers: {
        accept: "application/json",
        ...(isPost && { "content-type": "application/json" }),
        ...(apiKey !== undefined && header?.(apiKey)),
      },
      body: isPost ? JSON.stringify(asked) : "",
    };
    try {
      const { statusCode, body } = await dispatchRequest(connections, request, signal);
      const text = `${await readPageBody(body)}`;
      return statusCode === 200
        ? readResults(text, engine, count)
        : buildRefusedSearch(statusCode, header !== undefined);
    } catch (error) {
      signal.throwIfAborted();
      return buildFailedSearch(`could not be reached: ${describeConnectFailure(error)}`, false);
    }
  }

  close(): Promise<void> {
    return this.connections.close();
  }
}

function readResults(text: string, engine: Engine, count: number): SearchOutcome {
  const { results: path = ["results"], address = "url", mark = "" } = engine;
  const readMember = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined);
  const answer = tryParseJson(text);
  const list = path.reduce(readMember, answer) ?? (readMember(answer, mark) === undefined ? undefined : []);
  if (!Array.isArray(list)) return buildFailedSearch("sent an answer that is not in its JSON format");
  const results = list.flatMap((result): SearchResult[] => {
    const [url, title] = [readMember(result, address), readMember(result, "title")];
    if (typeof url !== "string") return [];
    return [{ url, title: typeof title === "string" ? title.slice(0, MAX_TITLE) : "" }];
  });
  return { results: results.slice(0, count) };
}

function buildRefusedSearch(status: number, hasKey: boolean): SearchOutcome {
  if (status === 401 || (status === 403 && hasKey)) return buildFailedSearch(`refused the key (${status})`);
  if (status === 403) return buildFailedSearch("refused (403): its settings may not allow the JSON format");
  // 432 and 433 are Tavily's codes for exceeded limits.
  if ([402, 429, 432, 433].includes(status))
    return buildFailedSearch(`has no quota left, or received too many requests (${status})`);
  return buildFailedSearch(`answered ${status}`, status < 500);
}
