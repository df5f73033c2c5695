import { Semaphore } from "../../core/semaphore.js";
import type {
  CutDocument,
  DocumentReader,
  DocumentTask,
  ReadDocument,
} from "../parsing/documents/document-reader.js";
import { isAllowedByRobots } from "../parsing/robots-txt.js";
import { detectErrorPage, isBehindPayment } from "./error-and-paywall-pages.js";
import { type FetcherOptions, type NoPage, PageFetcher } from "./page-fetcher.js";

/** The most bytes of a robots.txt that are read; RFC 9309 §2.5 requires at least 500 KiB. */
const MAX_ROBOTS = 512_000;

/** The rules of an origin's robots.txt, such as "-/private"; or why it cannot be read, which forbids all its pages. */
export type Robots = { rules: string[] } | ({ failure: string } & Partial<Pick<NoPage, "kind" | "status">>);

/** A page that was fetched and split into blocks. */
export interface Page extends ReadDocument {
  /** The final address, by which the page is cited. */
  id: string;
  title: string;
  /** When the page was fetched, ISO 8601. */
  accessed: string;
}

export interface PageReaderOptions extends FetcherOptions {
  /** Splits a page into blocks. */
  read: DocumentReader;
}

/** Returns the stored answer for a subject (`page …` or `robots …`), even if an earlier process stored it, else calls `ask`. */
export type Once = <T extends Page | NoPage | Robots>(subject: string, ask: () => Promise<T>) => Promise<T>;

/** Reads pages if robots.txt allows it, and parses one at a time. When `signal` aborts, all work ends. */
export class PageReader {
  readonly #fetcher: PageFetcher;
  readonly #cutting = new Semaphore(1);
  /** The rules of robots.txt, by origin. */
  readonly #rules = new Map<string, Promise<Robots>>();

  constructor(
    private readonly options: PageReaderOptions,
    private readonly signal: AbortSignal,
    private readonly once: Once = (_subject, ask) => ask(),
  ) {
    this.#fetcher = new PageFetcher(options, signal);
  }

  /** Fetches and parses a page. `title`: used if the page has no title. Rejects with the reason of the reader's signal, or the error of `once`. */
  read(url: URL, title = ""): Promise<Page | NoPage> {
    return this.once(`page ${url.href}`, async () => {
      const { clock, areCited = false } = this.options;
      const got = await this.#fetcher.fetch(url, (target) => this.#checkRobots(target));
      if ("reason" in got) return got;
      const { url: end, bytes, ...page } = got;
      const answered = { status: 200, url: end.href };
      if (areCited && isRedirectToFrontPage(url, end))
        return { kind: "front-page", reason: "it redirects to the front page", ...answered };
      if (isConsentGate(end) && !isConsentGate(url))
        return { kind: "unreadable", reason: "it redirects to a login or consent page", ...answered };
      const document = await this.#cut({ name: end.pathname, bytes, page, wantsText: areCited });
      if ("reason" in document) return { kind: "unreadable", ...document, ...answered };
      if (document.blocks.length === 0)
        return { kind: "empty", reason: "it has no text without its scripts", ...answered };
      const undelivered = detectErrorPage(document);
      if (undelivered !== undefined) return { kind: "unreadable", reason: undelivered, ...answered };
      const accessed = new Date(clock.now()).toISOString();
      const isPaid = isBehindPayment(document);
      return { id: end.href, accessed, ...document, isPaid, title: document.title ?? (title || end.href) };
    });
  }

  async #checkRobots(url: URL): Promise<NoPage | undefined> {
    const { origin } = url;
    const rules = this.#rules.get(origin) ?? this.once(`robots ${origin}`, () => this.#fetchRobots(origin));
    this.#rules.set(origin, rules);
    const robots = await rules;
    if ("failure" in robots) {
      const { failure, ...why } = robots;
      return { kind: "robots", ...why, reason: `its robots.txt cannot be read: ${failure}` };
    }
    return isAllowedByRobots(robots.rules, url)
      ? undefined
      : { kind: "robots", reason: "its robots.txt forbids it" };
  }

  async #fetchRobots(origin: string): Promise<Robots> {
    const got = await this.#fetcher.fetch(new URL("/robots.txt", origin));
    if ("bytes" in got) {
      const bytes = got.bytes.subarray(0, MAX_ROBOTS);
      const read = await this.#cut({ name: "/robots.txt", bytes, isRobots: true });
      return "reason" in read ? { failure: read.reason } : { rules: read.rules ?? [] };
    }
    // RFC 9309 §2.3.1.3 and §2.3.1.4: a missing robots.txt forbids nothing, an unreadable one forbids everything.
    const { kind, status = 0, reason } = got;
    if (status >= 400 && status < 500 && status !== 429) return { rules: [] };
    return { failure: reason, kind, ...(status > 0 && { status }) };
  }

  /** Parses one page at a time, so that one question does not occupy all parser processes. */
  async #cut(task: DocumentTask): Promise<CutDocument> {
    const leave = await this.#cutting.acquire(this.signal);
    return this.options.read(task, this.signal).finally(leave);
  }
}

function isRedirectToFrontPage(requested: URL, end: URL): boolean {
  const getSite = ({ hostname }: URL) => hostname.replace(/^www\./, "");
  return getSite(requested) === getSite(end) && !isFrontPage(requested) && isFrontPage(end);
}

/** Returns whether an address is a front page, possibly of one language, such as `/en/`. */
function isFrontPage({ pathname, search }: URL): boolean {
  return /^\/(?:[a-z]{2}(?:[-_][a-z]{2})?\/?)?$/i.test(pathname) && search === "";
}

function isConsentGate({ hostname, pathname }: URL): boolean {
  return /(?:^|[/.])(?:log[-_]?in|sign[-_]?in|consent|captcha|cookiewall)(?:$|[/.])/i.test(
    hostname + pathname,
  );
}
