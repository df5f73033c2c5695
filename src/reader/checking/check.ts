import { runWithDeadline, waitUnlessAborted } from "../../core/clock.js";
import { hashSha256 } from "../../core/files/local-error.js";
import type {
  Checked,
  CheckedCitation,
  CheckedPage,
  Support,
  Verdict,
} from "../../core/protocol/check-outcome.js";
import { isGroundingRedirect } from "../../core/protocol/citations.js";
import { Semaphore } from "../../core/semaphore.js";
import { HostGate } from "../fetching/host-gate.js";
import { explainUnfit, type Network } from "../fetching/page-fetcher.js";
import { type Page, PageReader, type PageReaderOptions } from "../fetching/page-reader.js";
import { detectLanguage } from "../languages/languages.js";
import { type Block, joinBlocks } from "../reading/blocks/block.js";
import type { CutDocument, ReadDocument } from "../reading/documents/document.js";
import { ROBOT } from "../reading/robots.js";
import { type GivenCitations, type ReportClaims, readClaims, readFieldClaims } from "./citations.js";
import { addAnswers, type FindSupport, judgeAll } from "./judging.js";
import { PageContent, type PagePassage } from "./page-content.js";
import type { CitedPage } from "./verdict.js";

/** A report with what its provider says of it: Markdown, or a structured result. */
export type Report = { text: string; given: GivenCitations } | { value: unknown; given: GivenCitations };

/** Not one citation could be checked: no mark leads to a source, or of `asked` pages none could be read and `answered` hosts answered. */
export class NotChecked extends Error {
  constructor(
    readonly checked: Checked,
    readonly asked: number,
    readonly answered: number,
  ) {
    super("not one citation could be checked");
  }
}

export interface CheckerOptions extends Pick<PageReaderOptions, "clock" | "read" | "forbidden"> {
  network: Omit<Network, "accessTo">;
  /** `named`: the hosts that the reports name. */
  accessTo(named: ReadonlySet<string>): Network["accessTo"];
  version: string | undefined;
  /** Whether the DNS gave an address for a name: a proof that it answers. */
  isInDns(name: string): boolean;
  /** Reads a file that is cited as `file:line`; undefined if none may be read. */
  readFile?: ((name: string) => Promise<CutDocument>) | undefined;
}

export interface CheckOptions {
  /** How many pages are asked for at most. */
  pages: number;
  timeoutMs: number;
  /** What was not read before it is aborted is unreadable. */
  signal: AbortSignal;
  /** The same call can be repeated and goes on, so it does not fail if no page answered in time. */
  goesOn?: boolean;
  onProgress?: (progress: CheckProgress) => void;
  /** Given what the report cites, before any page is asked for. */
  onCited?: (cited: ReportClaims) => void;
  /** Given the text of each page that was read, whose SHA-256 is in its entry. */
  onText?: ((page: CheckedPage, text: string) => void) | undefined;
  /** Asks a model about the citations of which a page was read. */
  findSupport?: FindSupport | undefined;
}

export interface CheckProgress {
  done: number;
  of: number;
  /** The hosts that are asked, the one that is asked for the longest time first. */
  hosts: readonly string[];
}

/** A page that was tried. */
interface Tried extends CitedPage {
  entry: CheckedPage;
  /** Of a page that was read. */
  text?: string;
  /** Whether its host answered, and whether it was asked. */
  answered: boolean;
  asked: boolean;
  hasNoHost: boolean;
}

/** How many hosts are asked at a time, and how far apart the requests to one of them are, ms (contract §11). */
const MOST_HOSTS = 4;
const APART_MS = 200;
const ANSWERS: ReadonlySet<string> = new Set(["robots", "type", "empty", "too-large", "front-page"]);
const FILE = /^(?!https?:)[^\s:]+?(?::\d+)?$/i;

/** Reads the pages that reports cite, each once, and holds the reports against them. */
export class Checker {
  readonly #reader: PageReader;
  readonly #named = new Set<string>();
  readonly #pages = new Map<string, Promise<Tried>>();
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

  /** Rejects with NotChecked. An abort ends the reading and not the check. */
  async check(
    report: Report,
    { pages: most, timeoutMs, signal, goesOn = false, ...listeners }: CheckOptions,
  ): Promise<Checked> {
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
      byHost.set(host, [...(byHost.get(host) ?? []), address]);
    }
    const late = new Error("the time of the check was over");
    const readAll = (until: AbortSignal) =>
      Promise.all(
        [...byHost].map(async ([host, addresses]) => {
          const leave = await this.#hosts.take(until);
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
    for (const address of asked)
      if (!tried.has(address))
        tried.set(address, { ...createUnread(address, "it was not read in time"), asked: true });
    const pages = [...tried.values()];
    const settled = new Map(
      addresses.map((url) => [
        url,
        this.#settle(tried.get(url) ?? createUnread(url, "it was not read"), url, pages),
      ]),
    );
    const language = detectLanguage("text" in report ? report.text : "");
    const listPages = (urls: readonly string[]) => urls.flatMap((url) => settled.get(url) ?? []);
    const {
      citations,
      read,
      isWhole: areJudged,
    } = await judgeAll(claims, listPages, language, {
      clock,
      signal,
      end,
    });
    // A file is one, however many of its lines are cited.
    for (const { entry, text } of settled.values())
      if (text !== undefined && !(FILE.test(entry.url) && entry.url !== entry.final_url))
        onText?.(entry, text);
    const getDigest = (url: string) => settled.get(url)?.entry.sha256 ?? null;
    if (findSupport) addAnswers(read, await findSupport(read, language, getDigest));
    const counts = {
      ...countVerdicts(citations),
      citations: citations.length,
      uncited: cited.claims.length - claims.length,
      marks_without_source: cited.marksWithoutSource.length,
      sources_not_cited: cited.notCited.length,
    };
    const judged = counts.supported + counts.contradicted + counts.not_stated;
    const wereAsked = asked.flatMap((address) => settled.get(address) ?? []).filter((page) => page.asked);
    const works = wereAsked.filter(({ entry }) => entry.state === "read").length;
    const checked: Checked = {
      checked_at: new Date(clock.now()).toISOString(),
      complete: isWhole && areAll && areJudged,
      citations,
      pages: [...settled.values()].map(({ entry }) => entry),
      counts,
      metrics: {
        links_work: shareOf(works, wereAsked.length),
        citation_coverage: shareOf(claims.length, cited.claims.length),
        citation_accuracy: shareOf(counts.supported, judged),
        effective_citations: judged === 0 ? null : counts.supported,
      },
    };
    const isEnded = isWhole || !(goesOn || signal.aborted);
    const isUnread = wereAsked.every(({ entry }) => entry.state === "unreadable");
    const hasOnlyBareMarks = claims.length === 0 && cited.marksWithoutSource.length > 0;
    if (hasOnlyBareMarks || (isEnded && wereAsked.length > 0 && isUnread))
      throw new NotChecked(checked, wereAsked.length, wereAsked.filter(({ answered }) => answered).length);
    return checked;
  }

  /** The addresses that are asked for, and those that are not. */
  #chooseAddresses(addresses: readonly string[], most: number) {
    const asked: string[] = [];
    const left: [string, Tried][] = [];
    const pages = new Set<string>();
    let isWhole = true;
    for (const address of addresses) {
      const reason = this.#explainRefusal(address);
      const fits = pages.size < most || pages.has(normalizePage(address));
      if (reason === undefined && fits) {
        asked.push(address);
        pages.add(normalizePage(address));
      } else left.push([address, createUnread(address, reason ?? `only ${most} pages are read`)]);
      isWhole &&= reason !== undefined || fits;
    }
    return { asked, left, isWhole };
  }

  /** Why an address is not asked for; undefined if it is. */
  #explainRefusal(address: string): string | undefined {
    const { readFile, forbidden } = this.options;
    if (FILE.test(address) && !URL.canParse(address.replace(/:\d+$/, "")))
      return readFile ? undefined : "a place in a file: --sources DIR names the folder to look in";
    if (!URL.canParse(address)) return "its address is invalid";
    const url = new URL(address);
    return explainUnfit(url) ?? forbidden(url);
  }

  /** A name of which the DNS says that it does not exist is gone, if another name that it knows answered: then there is a network. */
  #settle(tried: Tried, url: string, all: readonly Tried[]): Tried {
    const isProof = ({ answered, entry }: Tried) =>
      answered && URL.canParse(entry.url) && this.options.isInDns(new URL(entry.url).hostname);
    const isGone = tried.hasNoHost && all.some(isProof);
    return { ...tried, entry: { ...tried.entry, url, ...(isGone && { state: "gone" }) } };
  }

  #readOnce(address: string): Promise<Tried> {
    const key = normalizePage(address);
    const kept = this.#pages.get(key) ?? this.#read(address);
    kept.catch(() => {});
    this.#pages.set(key, kept);
    return kept;
  }

  async #read(address: string): Promise<Tried> {
    const { readFile, clock } = this.options;
    if (FILE.test(address)) {
      const name = normalizePage(address);
      const document = (await readFile?.(name)) ?? { reason: "it is not read" };
      if ("reason" in document) return createUnread(address, document.reason);
      const accessed = new Date(clock.now()).toISOString();
      return { ...readPage(address, { ...document, id: address, title: name, accessed }), asked: false };
    }
    const url = new URL(address);
    url.hash = "";
    let got = await this.#reader.read(url);
    // A server that is being changed says so for a moment.
    if ("reason" in got && got.kind === "gone") got = await this.#reader.read(url);
    if (!("reason" in got)) return readPage(address, got);
    const { kind, reason, status = null, url: end = null } = got;
    // What an ended redirect led to may well be there.
    const isGone = (kind === "gone" || kind === "front-page") && !isGroundingRedirect(end ?? "");
    const state = isGone ? "gone" : "unreadable";
    const entry = {
      ...createUnread(address, reason).entry,
      state,
      http_status: status,
      final_url: end,
    } as const;
    const answered = status !== null || ANSWERS.has(kind);
    return { entry, asked: kind !== "not-asked", answered, hasNoHost: kind === "no-host" };
  }
}

/** The page of an address: without the place in it. */
function normalizePage(address: string): string {
  return FILE.test(address) ? address.replace(/:\d+$/, "").replace(/^\.\//, "") : address.replace(/#.*/, "");
}

/** What a report cites. */
export function listClaims(report: Report): ReportClaims {
  return "text" in report
    ? readClaims(report.text, report.given)
    : readFieldClaims(report.value, report.given);
}

function createUnread(url: string, reason: string): Tried {
  const unknown = { final_url: null, http_status: null, title: null, read_at: null, sha256: null };
  const entry = { url, state: "unreadable", reason, ...unknown } as const;
  return { entry, answered: false, asked: false, hasNoHost: false };
}

function readPage(url: string, page: Page): Tried {
  const { id, accessed } = page;
  const title = page.title === id ? null : page.title;
  const content = buildPage({ ...page, title: title ?? "" });
  const text = joinBlocks(page.blocks, title, page.date);
  return {
    entry: {
      ...{ url, final_url: id, state: "read", http_status: FILE.test(url) ? null : 200 },
      reason: cutReason(page) ?? null,
      ...{ title, read_at: accessed, sha256: hashSha256(text) },
    },
    ...{ content, text, answered: true, asked: true, hasNoHost: false },
  };
}

/** Why a page has more text than what was read; undefined if it has not. */
function cutReason({ isCut, isPaid }: ReadDocument): string | undefined {
  if (isPaid) return "only the beginning of the page can be read without paying";
  return isCut ? "only the beginning of the page was read: it is too long" : undefined;
}

/** A document in which sentences are looked up: its title and date, then its blocks. */
export function buildPage(page: ReadDocument): PageContent {
  const { title, date, blocks, text } = page;
  const head = [title, date].filter(Boolean).join("\n");
  const cut = cutReason(page);
  return new PageContent(
    [{ text: head, over: "" }, ...blocks.map((block) => buildPassage(block, title))],
    cut,
    text,
  );
}

/** A block with what stands over it: the last heading, the titles of its columns and the text before its table. */
function buildPassage({ lines, heading, header = [], caption = "", kind }: Block, title = ""): PagePassage {
  const last = heading.split(" / ").at(-1) ?? "";
  const over = [/^page \d+$/.test(last) ? "" : last, ...header, caption].filter(Boolean).join("\n");
  return { text: lines.join("\n"), over, subject: `${title} ${heading}`, isRow: kind === "table" };
}

function countVerdicts(citations: readonly CheckedCitation[]): Record<Verdict | Support, number> {
  const verdicts = { found: 0, missing: 0, unchecked: 0, gone: 0, unreadable: 0 };
  const counts = { ...verdicts, supported: 0, contradicted: 0, not_stated: 0 };
  for (const { verdict, support } of citations) {
    counts[verdict] += 1;
    if (support) counts[support] += 1;
  }
  return counts;
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
