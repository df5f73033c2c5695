import { runWithDeadline, waitUnlessAborted } from "../../core/clock.js";
import { hashSha256 } from "../../core/files/local-error.js";
import { type Checked, type CheckedPage, countVerdicts } from "../../core/protocol/check-outcome.js";
import { isGroundingRedirect } from "../../core/protocol/citations.js";
import { Semaphore } from "../../core/semaphore.js";
import { formatCount } from "../../core/text/format-text.js";
import { HostGate } from "../fetching/host-gate.js";
import { explainUnfitUrl, type Network } from "../fetching/page-fetcher.js";
import { type Page, PageReader, type PageReaderOptions } from "../fetching/page-reader.js";
import { detectLanguage } from "../languages/vocabulary.js";
import { type Block, joinBlocks } from "../parsing/blocks/block.js";
import type { CutDocument, ReadDocument } from "../parsing/documents/document-reader.js";
import { ROBOT } from "../parsing/robots-txt.js";
import { type GivenCitations, type ReportClaims, readFieldClaims, readMarkdownClaims } from "./citations.js";
import { PageContent, type PagePassage } from "./indexed-page.js";
import { addModelAnswers, type FindSupport, judgeClaims } from "./judge-claims.js";
import type { CitedPage } from "./judge-sentence.js";

/** A report, as Markdown or as a structured result, and the citations that the provider returned with it. */
export type Report = { text: string; given: GivenCitations } | { value: unknown; given: GivenCitations };

/** The result of a check. `unreached`: set if nothing could be checked; how many pages were requested, and for how many the host answered. */
export interface ReportCheck {
  checked: Checked;
  unreached?: { asked: number; answered: number };
}

export interface CheckerOptions extends Pick<PageReaderOptions, "clock" | "read" | "forbidden"> {
  network: Omit<Network, "accessTo">;
  /** Decides about connections. `named`: the hosts that the reports cite. */
  accessTo(named: ReadonlySet<string>): Network["accessTo"];
  version: string | undefined;
  /** Returns whether the DNS has returned an address for a name. */
  isInDns(name: string): boolean;
  /** Reads a file that a citation `file:line` names; undefined if files must not be read. */
  readFile?: ((name: string) => Promise<CutDocument>) | undefined;
}

export interface CheckOptions {
  /** The most pages to request. */
  pages: number;
  timeoutMs: number;
  /** Ends the reading when aborted. Pages that are not read by then count as unreadable. */
  signal: AbortSignal;
  /** Whether the caller can repeat the check to continue it; then it does not fail if no page answered in time. */
  goesOn?: boolean;
  onProgress?: (progress: CheckProgress) => void;
  /** Called with the citations of the report before the first page is requested. */
  onCited?: (cited: ReportClaims) => void;
  /** Called with the text of each page that was read. The `sha256` of the page is that of this text. */
  onText?: ((page: CheckedPage, text: string) => void) | undefined;
  /** Asks a model about the citations whose pages were read. */
  findSupport?: FindSupport | undefined;
}

export interface CheckProgress {
  done: number;
  of: number;
  /** The hosts that are being read, the oldest request first. */
  hosts: readonly string[];
}

/** The result of reading one page. */
interface PageAttempt extends CitedPage {
  entry: CheckedPage;
  /** The text of the page; undefined if it could not be read. */
  text?: string;
  /** The outcome of the request. `unsent`: the address must not be requested, or is a file. `no-host`: the name does not exist in the DNS. */
  request: "unsent" | "no-host" | "silent" | "answered";
}

/** The most hosts to read from at the same time, and the pause between two requests to one host, ms (contract §11). */
const MOST_HOSTS = 4;
const APART_MS = 200;
const ANSWERS: ReadonlySet<string> = new Set(["robots", "type", "empty", "too-large", "front-page"]);
const REQUESTS: Readonly<Record<string, PageAttempt["request"]>> = {
  "not-asked": "unsent",
  "no-host": "no-host",
};
const FILE = /^(?!https?:)[^\s:]+?(?::\d+)?$/i;

/** Checks reports against the pages that they cite. Reads each page once. */
export class Checker {
  readonly #reader: PageReader;
  readonly #named = new Set<string>();
  readonly #pages = new Map<string, Promise<PageAttempt>>();
  readonly #hosts = new Semaphore(MOST_HOSTS);
  readonly #ended = new AbortController();

  constructor(private readonly options: CheckerOptions) {
    const { clock, network, accessTo, version, read, forbidden } = options;
    this.#reader = new PageReader(
      {
        network: { ...network, accessTo: accessTo(this.#named) },
        ...{ clock, read, forbidden, areCited: true },
        gate: new HostGate(clock, { atOnce: 1, apartMs: APART_MS }),
        userAgent: version === undefined ? ROBOT : `${ROBOT}/${version}`,
      },
      this.#ended.signal,
    );
  }

  /** Closes every connection. */
  close(): void {
    this.#ended.abort();
  }

  /** Checks a report. An abort ends only the reading, so the pages that were read are still judged. */
  async check(
    report: Report,
    { pages: most, timeoutMs, signal, goesOn = false, ...listeners }: CheckOptions,
  ): Promise<ReportCheck> {
    const { onProgress, onCited, onText, findSupport } = listeners;
    const { clock } = this.options;
    const cited = listClaims(report);
    onCited?.(cited);
    const claims = cited.claims.filter(({ urls }) => urls.length > 0);
    const addresses = [...new Set(claims.flatMap(({ urls }) => urls))];
    for (const address of addresses) if (URL.canParse(address)) this.#named.add(new URL(address).hostname);
    const { asked, left, isWhole: areAll } = this.#chooseAddresses(addresses, most);
    const tried = new Map(left);
    const progress: { done: number; of: number; hosts: string[] } = { done: 0, of: asked.length, hosts: [] };
    const byHost = new Map<string, string[]>();
    for (const address of asked) {
      const host = FILE.test(address) ? "" : new URL(address).host;
      const same = byHost.get(host);
      if (same) same.push(address);
      else byHost.set(host, [address]);
    }
    const late = new Error("the time limit of the check was reached");
    const readAll = (until: AbortSignal) =>
      Promise.all(
        [...byHost].map(async ([host, addresses]) => {
          const leave = await this.#hosts.acquire(until);
          progress.hosts.push(host);
          try {
            for (const address of addresses) {
              const page = await waitUnlessAborted(this.#readOnce(address), until);
              tried.set(address, page);
              progress.done += 1;
              onProgress?.(progress);
            }
          } finally {
            progress.hosts.splice(progress.hosts.indexOf(host), 1);
            leave();
          }
        }),
      );
    const limit = timeoutMs === 0 ? Number.MAX_SAFE_INTEGER : timeoutMs;
    const end = clock.monotonic() + limit;
    const isWhole = await runWithDeadline(clock, limit, signal, late, readAll).then(
      () => true,
      (error: unknown) => {
        if (error !== late && !signal.aborted) throw error;
        return false;
      },
    );
    // Report a host that does not exist in the DNS as gone only if another name was resolved, so that the network works.
    const isOnline = [...tried.values()].some(
      ({ request, entry }) => request === "answered" && this.options.isInDns(new URL(entry.url).hostname),
    );
    const settled = new Map(
      addresses.map((url) => {
        const page = tried.get(url) ?? createUnreadPage(url, "the page was not read in time", "silent");
        const isGone = isOnline && page.request === "no-host";
        return [url, { ...page, entry: { ...page.entry, url, ...(isGone && { state: "gone" as const }) } }];
      }),
    );
    const language = detectLanguage("text" in report ? report.text : "");
    const listPages = (urls: readonly string[]) => urls.flatMap((url) => settled.get(url) ?? []);
    const judging = { clock, signal, end };
    const { citations, read, isWhole: areJudged } = await judgeClaims(claims, listPages, language, judging);
    // A file counts as one page, however many of its lines are cited.
    for (const { entry, text } of settled.values())
      if (text !== undefined && !(FILE.test(entry.url) && entry.url !== entry.final_url))
        onText?.(entry, text);
    const getDigest = (url: string) => settled.get(url)?.entry.sha256 ?? null;
    if (findSupport) addModelAnswers(read, await findSupport(read, language, getDigest));
    const summary = countVerdicts(citations);
    const counts = {
      ...summary.counts,
      citations: citations.length,
      uncited: cited.claims.length - claims.length,
      marks_without_source: cited.marksWithoutSource.length,
      sources_not_cited: cited.notCited.length,
    };
    const wereAsked = asked
      .flatMap((address) => settled.get(address) ?? [])
      .filter(({ request }) => request !== "unsent");
    const works = wereAsked.filter(({ entry }) => entry.state === "read").length;
    const checked: Checked = {
      checked_at: new Date(clock.now()).toISOString(),
      complete: isWhole && areAll && areJudged,
      citations,
      pages: [...settled.values()].map(({ entry }) => entry),
      counts,
      metrics: {
        links_work: computeRatio(works, wereAsked.length),
        citation_coverage: computeRatio(claims.length, cited.claims.length),
        ...summary.metrics,
      },
    };
    const isEnded = isWhole || !(goesOn || signal.aborted);
    const isUnread = wereAsked.every(({ entry }) => entry.state === "unreadable");
    const hasOnlyBareMarks = claims.length === 0 && cited.marksWithoutSource.length > 0;
    const answered = wereAsked.filter(({ request }) => request === "answered");
    const isUnreached = hasOnlyBareMarks || (isEnded && wereAsked.length > 0 && isUnread);
    const unreached = { asked: wereAsked.length, answered: answered.length };
    return { checked, ...(isUnreached && { unreached }) };
  }

  /** Splits the addresses into those to request, and those that are refused or exceed the limit. */
  #chooseAddresses(addresses: readonly string[], most: number) {
    const asked: string[] = [];
    const left: [string, PageAttempt][] = [];
    const pages = new Set<string>();
    let isWhole = true;
    for (const address of addresses) {
      const reason = this.#explainRefusal(address);
      const fits = pages.size < most || pages.has(stripFragmentAndLine(address));
      if (reason === undefined && fits) {
        asked.push(address);
        pages.add(stripFragmentAndLine(address));
      } else
        left.push([
          address,
          createUnreadPage(address, reason ?? `a check reads at most ${formatCount(most, "page")}`),
        ]);
      isWhole &&= reason !== undefined || fits;
    }
    return { asked, left, isWhole };
  }

  /** Returns why an address must not be requested; undefined if it may be. */
  #explainRefusal(address: string): string | undefined {
    const { readFile, forbidden } = this.options;
    if (FILE.test(address))
      return readFile ? undefined : "a place in a file: --sources DIR names the folder to look in";
    if (!URL.canParse(address)) return "its address is invalid";
    const url = new URL(address);
    return explainUnfitUrl(url) ?? forbidden(url);
  }

  #readOnce(address: string): Promise<PageAttempt> {
    const key = stripFragmentAndLine(address);
    const reading = this.#pages.get(key) ?? this.#read(address);
    reading.catch(() => {});
    this.#pages.set(key, reading);
    return reading;
  }

  async #read(address: string): Promise<PageAttempt> {
    const { readFile, clock } = this.options;
    if (readFile && FILE.test(address)) {
      const name = stripFragmentAndLine(address);
      const document = await readFile(name);
      if ("reason" in document) return createUnreadPage(address, document.reason);
      const accessed = new Date(clock.now()).toISOString();
      return {
        ...convertToCheckedPage(address, { ...document, id: address, title: name, accessed }),
        request: "unsent",
      };
    }
    const url = new URL(address);
    url.hash = "";
    let got = await this.#reader.read(url);
    // Request it again before reporting it as gone, because a server may answer 404 for a moment during a deployment.
    if ("reason" in got && got.kind === "gone") got = await this.#reader.read(url);
    if (!("reason" in got)) return convertToCheckedPage(address, got);
    const { kind, reason, status = null, url: end = null } = got;
    // An expired grounding redirect does not prove anything about its target, which may still exist.
    const isGone = (kind === "gone" || kind === "front-page") && !isGroundingRedirect(end ?? "");
    const request = status !== null || ANSWERS.has(kind) ? "answered" : (REQUESTS[kind] ?? "silent");
    const { entry } = createUnreadPage(address, reason);
    const state = isGone ? "gone" : "unreadable";
    return { request, entry: { ...entry, state, http_status: status, final_url: end } };
  }
}

/** Returns an address without its fragment; for a file, without its line. */
function stripFragmentAndLine(address: string): string {
  return FILE.test(address) ? address.replace(/:\d+$/, "").replace(/^\.\//, "") : address.replace(/#.*/, "");
}

/** Lists the claims of a report with the addresses that they cite. */
export function listClaims(report: Report): ReportClaims {
  return "text" in report
    ? readMarkdownClaims(report.text, report.given)
    : readFieldClaims(report.value, report.given);
}

function createUnreadPage(
  url: string,
  reason: string,
  request: PageAttempt["request"] = "unsent",
): PageAttempt {
  const unknown = { final_url: null, http_status: null, title: null, read_at: null, sha256: null };
  const entry = { url, state: "unreadable", reason, ...unknown } as const;
  return { entry, request };
}

function convertToCheckedPage(url: string, page: Page): PageAttempt {
  const { id, accessed } = page;
  const title = page.title === id ? null : page.title;
  const content = buildPageContent({ ...page, title: title ?? "" });
  const text = joinBlocks(page.blocks, title, page.date);
  return {
    entry: {
      ...{ url, final_url: id, state: "read", http_status: FILE.test(url) ? null : 200 },
      reason: explainPartialRead(page) ?? null,
      ...{ title, read_at: accessed, sha256: hashSha256(text) },
    },
    ...{ content, text, request: "answered" },
  };
}

/** Returns why only a part of a page was read; undefined if all of it was. */
function explainPartialRead({ isCut, isPaid }: ReadDocument): string | undefined {
  if (isPaid) return "only the beginning of the page can be read without paying";
  return isCut ? "only the beginning of the page was read: it is too long" : undefined;
}

/** Builds the content of a page, in which sentences are looked up: title and date, then the blocks. */
export function buildPageContent(page: ReadDocument): PageContent {
  const { title, date, blocks, text } = page;
  const head = [title, date].filter(Boolean).join("\n");
  const cut = explainPartialRead(page);
  return new PageContent(
    [{ text: head, over: "" }, ...blocks.map((block) => buildPagePassage(block, title))],
    cut,
    text,
  );
}

/** Builds a passage from a block, with the heading, column titles and caption directly above it. */
function buildPagePassage(
  { lines, heading, header = [], caption = "", kind }: Block,
  title = "",
): PagePassage {
  const last = heading.split(" / ").at(-1) ?? "";
  const over = [/^page \d+$/.test(last) ? "" : last, ...header, caption].filter(Boolean).join("\n");
  return { text: lines.join("\n"), over, subject: `${title} ${heading}`, isRow: kind === "table" };
}

function computeRatio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
