import { Semaphore } from "../../core/semaphore.js";
import type {
  CutDocument,
  DocumentReader,
  DocumentTask,
  ReadDocument,
} from "../reading/documents/document.js";
import { isAllowedBy } from "../reading/robots.js";
import { explainUndelivered, isBehindPayment } from "./delivery.js";
import { type FetcherOptions, type NoPage, PageFetcher } from "./page-fetcher.js";

/** RFC 9309 §2.5 asks for at least 500 KiB. */
const MAX_ROBOTS = 512_000;

/** The rules of an origin's robots.txt, such as "-/private", or why it cannot be read, which forbids everything. */
export type Robots = { rules: string[] } | ({ failure: string } & Partial<Pick<NoPage, "kind" | "status">>);

/** A page that was fetched and split into blocks. */
export interface Page extends ReadDocument {
  /** The final address, by which the page is cited. */
  id: string;
  title: string;
  /** ISO 8601 */
  accessed: string;
}

export interface PageReaderOptions extends FetcherOptions {
  /** Splits a page into blocks. */
  read: DocumentReader;
}

/** Returns the stored answer for a subject (`page …` or `robots …`), also of an earlier process, else calls `ask`. */
export type Once = <T extends Page | NoPage | Robots>(subject: string, ask: () => Promise<T>) => Promise<T>;

/** Reads pages as robots.txt allows, parsing one at a time. `signal` ends everything. */
export class PageReader {
  readonly #fetcher: PageFetcher;
  readonly #cutting = new Semaphore(1);
  /** Rules by origin. */
  readonly #rules = new Map<string, Promise<Robots>>();

  constructor(
    private readonly options: PageReaderOptions,
    private readonly signal: AbortSignal,
    private readonly once: Once = (_subject, ask) => ask(),
  ) {
    this.#fetcher = new PageFetcher(options, signal);
  }

  /** `title` is the fallback for a page without a title. Rejects with `signal.reason`, and as `once` does. */
  read(url: URL, title = ""): Promise<Page | NoPage> {
    return this.once(`page ${url.href}`, async () => {
      const { clock, areCited = false } = this.options;
      const got = await this.#fetcher.fetch(url, (target) => this.#checkRobots(target));
      if ("reason" in got) return got;
      const { url: end, bytes, ...page } = got;
      const answered = { status: 200, url: end.href };
      if (areCited && isFrontPageOf(url, end))
        return { kind: "front-page", reason: "it redirects to the front page", ...answered };
      if (isGate(end) && !isGate(url))
        return { kind: "unreadable", reason: "it redirects to a login or consent page", ...answered };
      const document = await this.#cut({ name: end.pathname, bytes, page, wantsText: areCited });
      if ("reason" in document) return { kind: "unreadable", ...document, ...answered };
      if (document.blocks.length === 0)
        return { kind: "empty", reason: "it has no text without its scripts", ...answered };
      const undelivered = explainUndelivered(document);
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
    return isAllowedBy(robots.rules, url)
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
    // §2.3.1.3 and §2.3.1.4: a missing robots.txt forbids nothing, an unreadable one everything.
    const { kind, status = 0, reason } = got;
    if (status >= 400 && status < 500 && status !== 429) return { rules: [] };
    return { failure: reason, kind, ...(status > 0 && { status }) };
  }

  /** Parses one page at a time, so that a research leaves processes to the others. */
  async #cut(task: DocumentTask): Promise<CutDocument> {
    const leave = await this.#cutting.take(this.signal);
    return this.options.read(task, this.signal).finally(leave);
  }
}

function isFrontPageOf(requested: URL, end: URL): boolean {
  const getSite = ({ hostname }: URL) => hostname.replace(/^www\./, "");
  return getSite(requested) === getSite(end) && !isFront(requested) && isFront(end);
}

/** Whether an address is a front page, including one of a language: `/en/`. */
function isFront({ pathname, search }: URL): boolean {
  return /^\/(?:[a-z]{2}(?:[-_][a-z]{2})?\/?)?$/i.test(pathname) && search === "";
}

function isGate({ hostname, pathname }: URL): boolean {
  return /(?:^|[/.])(?:log[-_]?in|sign[-_]?in|consent|captcha|cookiewall)(?:$|[/.])/i.test(
    hostname + pathname,
  );
}
