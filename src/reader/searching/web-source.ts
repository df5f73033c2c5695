import { runWithDeadline } from "../../core/clock.js";
import { isObject } from "../../core/json/exact-json.js";
import { type ExchangeStore, ResearchFailure } from "../../core/researcher.js";
import { shortenLine } from "../../core/text/format-text.js";
import { type DomainLimits, explainOutsideLimits } from "../fetching/allowed-addresses.js";
import { HostGate } from "../fetching/host-gate.js";
import type { NoPage } from "../fetching/page-fetcher.js";
import {
  type Once,
  type Page,
  PageReader,
  type PageReaderOptions,
  type Robots,
} from "../fetching/page-reader.js";
import { NEARLY_NO_TEXT } from "../parsing/blocks/read-blocks.js";
import { MAX_PAGE_TEXT } from "../parsing/documents/document-reader.js";
import { ROBOT } from "../parsing/robots-txt.js";
import { DocumentIndex } from "./document-index.js";
import {
  buildFailedSearch,
  type SearchEngine,
  type SearchOutcome,
  type SearchResult,
} from "./search-engines.js";
import type { Description, Hit, Opened, Source, SourceProvider, Unread } from "./source.js";

export interface WebOptions extends DomainLimits, Pick<PageReaderOptions, "network" | "read" | "clock"> {
  engine: SearchEngine;
  exchanges: ExchangeStore;
  /** The most pages that may be requested for one question. */
  pages: number;
  version: string;
  log: (line: string) => void;
}

/** How many results a query requests; no more pages than that are read for it. */
const RESULTS = 10;
/** The number of queries among which the pages of a question are divided, so that the first query does not use them all. */
const QUERIES = 3;
/** The most text of pages that is in memory for one question, in bytes. */
const MAX_TEXT = 16 * 1_048_576;
const SEARCH_MS = 20_000;
/** The longest address in a note, in characters. It is limited because an engine may return any text as an address. */
const MAX_NAME = 200;

/** A record in the conversation's store; with it, a restarted service does not request anything twice. */
interface Kept {
  kind: "web";
  /** What was requested: `query …`, `page …` or `robots …`. */
  subject: string;
  answer: SearchOutcome | Page | NoPage | Robots;
}

/** The parts that all questions share. */
type Shared = WebOptions & { gate: HostGate; userAgent: string };

/** Creates the sources of the web: a search engine finds pages, and only the text of fetched pages can be quoted. */
export function createWebSources(options: WebOptions): SourceProvider {
  const { clock, engine, version } = options;
  const userAgent = `${ROBOT}/${version}`;
  const shared = { ...options, gate: new HostGate(clock), userAgent };
  return {
    for: (requestId, signal) => new WebSource(shared, requestId, signal),
    close: () => engine.close(),
  };
}

class WebSource implements Source {
  readonly #index = new DocumentIndex();
  /** Answers by subject, including those of an earlier process. */
  readonly #asked: Promise<Map<string, Kept["answer"] | Promise<Kept["answer"]>>>;
  readonly #unread: Unread[] = [];
  readonly #notes = new Set<string>();
  readonly #reader: PageReader;
  /** The failure of the engine after which no further query is sent. */
  #broken: SearchOutcome | undefined;
  #isSearched = false;
  /** The addresses that were requested, and the size of the blocks that were read, in bytes. */
  readonly #tried = new Set<string>();
  #text = 0;
  /** Searches run one after the other, so that a restart finds the same results. */
  #searching: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly shared: Shared,
    private readonly requestId: string,
    private readonly signal: AbortSignal,
  ) {
    const explainForbidden = (url: URL) => this.#explainForbidden(url);
    const readOnce: Once = (subject, ask) => this.#readOnce(subject, ask);
    this.#reader = new PageReader({ ...shared, forbidden: explainForbidden }, signal, readOnce);
    const isKept = (record: unknown): record is Kept => isObject(record) && record.kind === "web";
    this.#asked = shared.exchanges
      .read(requestId)
      .then((records) => new Map(records.filter(isKept).map(({ subject, answer }) => [subject, answer])));
    this.#asked.catch(() => {});
  }

  search(query: string, n: number): Promise<Hit[]> {
    const search = this.#searching.then(() => this.#search(query, n));
    this.#searching = search.catch(() => {});
    return search;
  }

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    return this.#index.open(id, from, to);
  }

  async describe(): Promise<Description> {
    const notes = [...this.#notes];
    return { kind: "the web", ...this.#index.describe(), unread: [...this.#unread], notes };
  }

  async #search(query: string, n: number): Promise<Hit[]> {
    const chosen = this.#choose(await this.#searchResults(query));
    const pages = await Promise.all(
      chosen.map(async (result) => [result.url, await this.#reader.read(result.url, result.title)] as const),
    );
    this.signal.throwIfAborted();
    // Process pages in the order of the results, not of their arrival.
    for (const [url, page] of pages) {
      if ("reason" in page) this.#leaveOut(url, page.reason);
      else if (!this.#index.has(page.id)) {
        const { blocks, isBare, ...about } = page;
        this.#text += Buffer.byteLength(JSON.stringify(blocks));
        this.#index.set({ ...about, url: page.id }, blocks);
        if (isBare) this.#notes.add(`${page.id}: ${NEARLY_NO_TEXT}.`);
      }
    }
    return this.#index.search(query, n);
  }

  /** Returns the engine's results. If the engine fails but has answered before, adds a note and returns none. Else throws. */
  async #searchResults(query: string): Promise<SearchResult[]> {
    const searched = await this.#readOnce(`query ${query}`, () => this.#askEngine(query));
    const { results, failure, isFinal } = searched;
    this.#isSearched ||= failure === undefined;
    if (failure === undefined) return results;
    if (isFinal) this.#broken = searched;
    const sentence = `The search engine ${this.shared.engine.name} ${failure}.`;
    this.#notes.add(sentence);
    if (!this.#isSearched) throw new ResearchFailure(sentence);
    return [];
  }

  async #askEngine(query: string): Promise<SearchOutcome> {
    const { engine, clock, gate, log } = this.shared;
    if (this.#broken) return this.#broken;
    for (let tries = 1; ; tries++) {
      const leave = await gate.enter(engine.url.origin, this.signal);
      const late = new Error(`did not answer within ${SEARCH_MS / 1_000} s`);
      const ask = (signal: AbortSignal) => engine.ask(query, RESULTS, signal);
      const searched = await runWithDeadline(clock, SEARCH_MS, this.signal, late, ask)
        .catch((error: unknown) => {
          if (error !== late) throw error;
          return buildFailedSearch(late.message, false);
        })
        .finally(leave);
      if (searched.failure === undefined) return searched;
      log(`${this.requestId}: the search engine ${engine.name} ${searched.failure}`);
      if (searched.isFinal || tries === 2) return searched;
    }
  }

  /** Picks the results whose addresses are new and may be requested, within the limits. */
  #choose(results: readonly SearchResult[]): { url: URL; title: string }[] {
    const { pages } = this.shared;
    const most = Math.min(RESULTS, Math.max(3, Math.ceil(pages / QUERIES)));
    const chosen: { url: URL; title: string }[] = [];
    for (const { url: address, title } of results) {
      if (chosen.length >= most || this.#tried.size >= pages) break;
      if (this.#text + (chosen.length + 1) * MAX_PAGE_TEXT > MAX_TEXT) {
        this.#notes.add(`The limit of ${MAX_TEXT / 1_048_576} MiB of text from the web was reached.`);
        break;
      }
      if (!URL.canParse(address)) continue;
      const url = new URL(address);
      url.hash = "";
      if (this.#tried.has(url.href) || this.#index.has(url.href)) continue;
      const refusal = this.#explainForbidden(url);
      if (refusal !== undefined) this.#leaveOut(url, refusal);
      else {
        chosen.push({ url, title });
        this.#tried.add(url.href);
      }
    }
    if (this.#tried.size >= pages) this.#notes.add("The limit of --pages was reached.");
    return chosen;
  }

  /** Returns why an address must not be requested, even if its robots.txt allows it; undefined if it may be requested. */
  #explainForbidden({ hostname, origin }: URL): string | undefined {
    const isEngine = origin === this.shared.engine.url.origin;
    return isEngine ? "it is the search engine itself" : explainOutsideLimits(this.shared, hostname);
  }

  #leaveOut({ href }: URL, reason: string): void {
    const name = shortenLine(href, MAX_NAME);
    if (this.#unread.some((page) => page.name === name)) return;
    this.#unread.push({ name, reason });
    this.shared.log(`${this.requestId}: ${name} is left out: ${reason}`);
  }

  /** Returns the stored answer for a subject. Without one, calls `ask` and stores the answer. */
  async #readOnce<T extends Kept["answer"]>(subject: string, ask: () => Promise<T>): Promise<T> {
    const asked = await this.#asked;
    const answer = asked.get(subject) ?? this.#keep(subject, ask());
    asked.set(subject, answer);
    return answer as Promise<T>;
  }

  /** Stores an answer. Ignores a failure of the store, which costs another request after a restart, but no result. */
  async #keep<T extends Kept["answer"]>(subject: string, asked: Promise<T>): Promise<T> {
    const { exchanges, log } = this.shared;
    const answer = await asked;
    const record: Kept = { kind: "web", subject, answer };
    await exchanges.append(this.requestId, record).catch((error: Error) => {
      log(`${this.requestId}: the search results and pages cannot be stored: ${error.message}`);
    });
    this.signal.throwIfAborted();
    return answer;
  }
}
