import type { Clock } from "../../../clock.js";
import { isObject } from "../../../json/is-object.js";
import type { ExchangeStore } from "../../conversations/exchange-store.js";
import { HostGate } from "../../host-gate.js";
import type { Block } from "../blocks/block.js";
import { MAX_PAGE_TEXT } from "../documents/document.js";
import { DocumentThread } from "../documents/document-thread.js";
import { within } from "../model/session/within.js";
import { ResearchFailure } from "../researcher.js";
import { DocumentIndex, stretch, toHits } from "../sources/document-index.js";
import type { Description, Hit, Opened, Source, SourceProvider, Unread } from "../sources/source.js";
import { EngineFailure, type SearchEngine, type SearchResult } from "./engines.js";
import { LeftOut, type Network, PageFetcher } from "./page-fetcher.js";
import { fetchRobots, isAllowedBy, ROBOT, type Robots } from "./robots.js";

export interface WebOptions {
  engine: SearchEngine;
  network: Network;
  exchanges: ExchangeStore;
  /** How many pages one research may ask for. */
  pages: number;
  /** Domains, with what is below them: only these, and not those. */
  domains: readonly string[];
  notDomains: readonly string[];
  clock: Clock;
  version: string;
  /** For the log of a person. */
  log: (line: string) => void;
}

/** How many results of one query are asked for, and how many pages are read of it at most. */
const RESULTS = 10;
/** So that one query does not use up the pages of all. */
const QUERIES = 3;
/** What is kept of all pages of a research, in bytes. */
const MAX_TEXT = 16 * 1_048_576;
const SEARCH_MS = 20_000;
const TYPES = /^(?:text\/(?!css|javascript|ecmascript|calendar|vcard)[\w.+-]+|application\/xhtml\+xml)$/i;

/** A page that was fetched, as it is kept with its conversation. */
interface KeptPage {
  kind: "page";
  /** As the engine gave it. */
  url: string;
  /** Where it was in the end; what it is cited as. */
  id: string;
  title: string;
  /** ISO 8601 */
  accessed: string;
  date?: string;
  blocks: Block[];
}

/** What is kept of the web with a conversation, so that a restarted service asks for nothing twice. */
type WebRecord =
  | { kind: "searched"; query: string; results: SearchResult[]; failure?: string; isFinal?: boolean }
  | KeptPage
  | { kind: "left-out"; url: string; reason: string }
  | ({ kind: "robots"; origin: string } & Robots);

/** Whether a stored value is such a record: nobody but this program has written it. */
function isWebRecord(value: unknown): value is WebRecord {
  return isObject(value) && ["searched", "page", "left-out", "robots"].includes(String(value.kind));
}

/** The web as a source: an engine finds pages, and only what was fetched from them can be quoted. */
export class Web implements SourceProvider {
  readonly #gate: HostGate;
  constructor(private readonly options: WebOptions) {
    this.#gate = new HostGate(options.clock);
  }

  for(requestId: string, signal: AbortSignal): Source {
    return new WebSource(this.options, this.#gate, requestId, signal);
  }

  close(): Promise<void> {
    return this.options.engine.close();
  }
}

class WebSource implements Source {
  readonly #index = new DocumentIndex();
  readonly #pages = new Map<string, KeptPage>();
  readonly #unread: Unread[] = [];
  readonly #notes = new Set<string>();
  /** What an earlier process has kept, by its kind and what it is about. */
  readonly #kept: Promise<Map<string, WebRecord>>;
  /** The engine's failure, if it is to be asked no further. */
  #broken: Kept<"searched"> | undefined;
  /** The results of each query, and the addresses of pages that were asked for. */
  readonly #results = new Map<string, SearchResult[]>();
  readonly #tried = new Set<string>();
  readonly #robots = new Map<string, Promise<Robots>>();
  readonly #fetcher: PageFetcher;
  readonly #thread: DocumentThread;
  #text = 0;
  /** One search after the other: what one finds has to be the same after a restart. */
  #searching: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: WebOptions,
    private readonly gate: HostGate,
    private readonly requestId: string,
    private readonly signal: AbortSignal,
  ) {
    const { network, clock, version } = options;
    this.#fetcher = new PageFetcher({ network, clock, userAgent: `${ROBOT}/${version}` }, signal);
    this.#thread = new DocumentThread(clock);
    signal.addEventListener("abort", () => void this.#thread.close(), { once: true });
    this.#kept = this.#load();
    this.#kept.catch(() => {});
  }

  search(query: string, n: number): Promise<Hit[]> {
    const search = this.#searching.then(() => this.#search(query, n));
    this.#searching = search.catch(() => {});
    return search;
  }

  async open(id: string, from: number, to: number): Promise<Opened | undefined> {
    const page = this.#pages.get(id);
    if (page === undefined) return undefined;
    const { title, accessed, date } = page;
    const document = { id, url: id, title, accessed, ...(date !== undefined && { date }) };
    return { document, passages: stretch(id, page.blocks, from, to) };
  }

  async describe(): Promise<Description> {
    const notes = [...this.#notes];
    return { kind: "the web", ...this.#index.describe(), unread: [...this.#unread], notes };
  }

  async #search(query: string, n: number): Promise<Hit[]> {
    const results = this.#results.get(query) ?? (await this.#ask(query));
    this.#results.set(query, results);
    const urls = this.#choose(results);
    const fetched = await Promise.all(urls.map((url) => this.#page(url)));
    this.signal.throwIfAborted();
    for (const page of fetched) this.#take(page);
    return toHits(this.#index.search(query, n), (id) => this.#pages.get(id)?.blocks ?? []);
  }

  /** The engine's results; none, and a note, if it fails while there is something to search already. */
  async #ask(query: string): Promise<SearchResult[]> {
    const kept = this.#broken ?? (await this.#keptOf("searched", query));
    const searched = kept ?? (await this.#askEngine(query));
    const { results, failure } = searched;
    if (failure === undefined) return results;
    if (searched.isFinal) this.#broken = searched;
    const sentence = `The search engine ${this.options.engine.name} ${failure}.`;
    this.#notes.add(sentence);
    if (this.#results.size === 0) throw new ResearchFailure(sentence);
    return [];
  }

  async #askEngine(query: string): Promise<Kept<"searched">> {
    const { engine, clock, log } = this.options;
    for (let tries = 1; ; tries++) {
      const leave = await this.gate.enter(engine.origin, this.signal);
      try {
        const late = new EngineFailure(`was silent for ${SEARCH_MS / 1_000} s`, true);
        const ask = (signal: AbortSignal) => engine.ask(query, RESULTS, signal);
        const results = await within(clock, SEARCH_MS, this.signal, late, ask);
        return await this.#keep({ kind: "searched", query, results });
      } catch (error) {
        if (!(error instanceof EngineFailure)) throw error;
        log(`${this.requestId}: the search engine ${engine.name} ${error.message}`);
        if (!error.isPassing || tries === 2)
          return await this.#keep({
            ...{ kind: "searched", query, results: [], failure: error.message },
            isFinal: !error.isPassing,
          });
      } finally {
        leave();
      }
    }
  }

  /** The addresses of results that are new and may be asked for. */
  #choose(results: readonly SearchResult[]): { url: URL; title: string }[] {
    const { pages } = this.options;
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
      if (this.#tried.has(url.href) || this.#pages.has(url.href)) continue;
      const refusal = this.#forbidden(url);
      if (refusal === undefined) chosen.push({ url, title });
      else this.#leaveOut(url.href, refusal);
      if (refusal === undefined) this.#tried.add(url.href);
    }
    if (this.#tried.size >= pages) this.#notes.add("The limit of --pages was reached.");
    return chosen;
  }

  /** Why no request may go to an address, whatever stands there. */
  #forbidden({ hostname, origin }: URL): string | undefined {
    const { domains, notDomains, engine } = this.options;
    const isIn = (list: readonly string[]) =>
      list.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
    if (origin === engine.origin) return "it is the search engine itself";
    if (isIn(notDomains)) return "--not-domains names it";
    return domains.length > 0 && !isIn(domains) ? "--domains does not name it" : undefined;
  }

  async #page({ url, title }: { url: URL; title: string }): Promise<Kept<"page" | "left-out">> {
    const kept = (await this.#keptOf("page", url.href)) ?? (await this.#keptOf("left-out", url.href));
    if (kept !== undefined) return kept;
    try {
      const fetched = await this.#fetcher.fetch(url, {
        refusal: async (target) => this.#forbidden(target) ?? (await this.#robotsRefusal(target)),
        enter: (host, signal) => this.gate.enter(host, signal),
        types: TYPES,
      });
      const { type, charset, bytes } = fetched;
      const read = await this.#thread.read({ name: fetched.url.pathname, bytes, page: { type, charset } });
      this.signal.throwIfAborted();
      if ("reason" in read) throw new LeftOut(read.reason);
      const accessed = new Date(this.options.clock.now()).toISOString();
      const id = fetched.url.href;
      return await this.#keep({
        kind: "page",
        url: url.href,
        id,
        accessed,
        ...read,
        title: read.title ?? (title || id),
      });
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      return await this.#keep({ kind: "left-out", url: url.href, reason: error.message });
    }
  }

  async #robotsRefusal(url: URL): Promise<string | undefined> {
    const known = this.#robots.get(url.origin) ?? this.#robotsOf(url.origin);
    this.#robots.set(url.origin, known);
    const robots = await known;
    if ("failure" in robots) return `its robots.txt cannot be read: ${robots.failure}`;
    return isAllowedBy(robots.rules, url) ? undefined : "its robots.txt forbids it";
  }

  async #robotsOf(origin: string): Promise<Robots> {
    const kept = await this.#keptOf("robots", origin);
    return kept ?? this.#keep({ kind: "robots", origin, ...(await fetchRobots(this.#fetcher, origin)) });
  }

  /** Takes a page into the index, in the order of the results and not of their arrival. */
  #take(record: Kept<"page" | "left-out">): void {
    if (record.kind === "left-out") this.#leaveOut(record.url, record.reason);
    else if (!this.#pages.has(record.id)) {
      this.#text += Buffer.byteLength(JSON.stringify(record.blocks));
      this.#pages.set(record.id, record);
      this.#index.set(record.id, record.blocks, record.title);
    }
  }

  #leaveOut(name: string, reason: string): void {
    if (this.#unread.some((one) => one.name === name)) return;
    this.#unread.push({ name, reason });
    this.options.log(`${this.requestId}: ${name} is left out: ${reason}`);
  }

  /** Keeps a record with the conversation. A store that fails costs another fetch after a restart, and no result. */
  async #keep<T extends WebRecord>(record: T): Promise<T> {
    const { exchanges, log } = this.options;
    await exchanges.append(this.requestId, record).catch((error: Error) => {
      log(`${this.requestId}: what was found on the web cannot be stored: ${error.message}`);
    });
    this.signal.throwIfAborted();
    return record;
  }

  async #keptOf<K extends WebRecord["kind"]>(kind: K, about: string): Promise<Kept<K> | undefined> {
    return (await this.#kept).get(`${kind} ${about}`) as Kept<K> | undefined;
  }

  async #load(): Promise<Map<string, WebRecord>> {
    const records = (await this.options.exchanges.read(this.requestId)).filter(isWebRecord);
    return new Map(records.map((record) => [`${record.kind} ${aboutOf(record)}`, record]));
  }
}

function aboutOf(record: WebRecord): string {
  if (record.kind === "searched") return record.query;
  return record.kind === "robots" ? record.origin : record.url;
}

type Kept<K extends WebRecord["kind"]> = Extract<WebRecord, { kind: K }>;
