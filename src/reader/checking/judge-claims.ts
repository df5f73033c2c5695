import type { Clock } from "../../core/clock.js";
import type { CheckedCitation, Support } from "../../core/protocol/check-outcome.js";
import type { CitedClaim } from "./citations.js";
import type { PageContent, Pause } from "./indexed-page.js";
import { type CitedPage, type Judgement, judgeSentence } from "./judge-sentence.js";

/** How long judging may block the event loop at a time, ms. */
const TURN_MS = 20;
/** How long a check continues to judge after Ctrl-C or its timeout, ms. */
const GRACE_MS = 1_000;

const NOT_JUDGED: Judgement = {
  ...{ verdict: "unchecked", missing: [], passage: null, page: undefined },
  reason: "the check ended before the sentence was judged",
};

/** Thrown by a `Pause` callback when the time for judging is over. */
class TimeOver extends Error {}

function rethrowUnlessTimeOver(error: unknown): undefined {
  if (!(error instanceof TimeOver)) throw error;
}

/**
 * Judges the claims of a report in order, and lets other work run in between. Soon after `signal` aborts or the
 * monotonic time `end` passes, the remaining claims become "unchecked". `isWhole`: whether all claims were judged.
 */
export async function judgeClaims(
  claims: readonly CitedClaim[],
  pagesOf: (urls: readonly string[]) => CitedPage[],
  language: string | undefined,
  { clock, signal, end }: { clock: Pick<Clock, "monotonic">; signal: AbortSignal; end: number },
): Promise<{ citations: CheckedCitation[]; read: ReadCitation[]; isWhole: boolean }> {
  const citations: CheckedCitation[] = [];
  const read: ReadCitation[] = [];
  const pause = pauseUntil(clock, signal, end);
  let isWhole = true;
  const judgeInTime = async ({ text, over, urls }: CitedClaim) => {
    await pause();
    return judgeSentence(text, pagesOf(urls), language, over, pause);
  };
  for (const claim of claims) {
    const judged: Judgement | undefined = isWhole
      ? await judgeInTime(claim).catch(rethrowUnlessTimeOver)
      : undefined;
    isWhole &&= judged !== undefined;
    const { verdict, missing, reason, passage } = judged ?? NOT_JUDGED;
    const { text, field = null, urls, over } = claim;
    const judgement = { verdict, missing, reason, passage, support: null, quote: null };
    const citation = { claim: text, field, urls, ...judgement };
    citations.push(citation);
    const pages = pagesOf(urls);
    const { content } = pages[judged?.page ?? pages.findIndex((page) => page.content)] ?? {};
    if (content) read.push({ citation, over, content });
  }
  return { citations, read, isWhole };
}

/** A citation and its page, which was read. If it cites several pages, the page with the passage. */
export interface ReadCitation {
  citation: CheckedCitation;
  over: string | undefined;
  content: PageContent;
}

/** A model's answer that its quote proves. */
export interface ProvenAnswer {
  support: Support;
  /** The quote as written on the page; null if the answer needs none. */
  quote: string | null;
}

/** The result of asking a model about a citation; nulls if no quote proves the model's answer. */
export type SupportVerdict = ProvenAnswer | Record<keyof ProvenAnswer, null>;

/** Asks a model about citations. `digestOf` returns the SHA-256 of the text that was read from an address. */
export type FindSupport = (
  citations: readonly ReadCitation[],
  language: string | undefined,
  digestOf: (url: string) => string | null,
) => Promise<readonly (SupportVerdict | undefined)[]>;

/** Adds a model's answers. If a `missing` claim is supported, it becomes `unchecked`, because its figure is computed from the quote. */
export function addModelAnswers(
  read: readonly ReadCitation[],
  answers: readonly (SupportVerdict | undefined)[],
): void {
  for (const [i, { citation }] of read.entries()) {
    Object.assign(citation, answers[i]);
    if (citation.verdict !== "missing" || citation.support !== "supported") continue;
    Object.assign(citation, {
      verdict: "unchecked",
      missing: [],
      reason: "the figure is computed from the quote",
    });
  }
}

function pauseUntil(clock: Pick<Clock, "monotonic">, signal: AbortSignal, end: number): Pause {
  let next = clock.monotonic() + TURN_MS;
  let last = Number.POSITIVE_INFINITY;
  return async () => {
    if (clock.monotonic() < next) return;
    await new Promise((resolve) => setImmediate(resolve));
    next = clock.monotonic() + TURN_MS;
    if (signal.aborted || next > end) last = Math.min(last, next + GRACE_MS);
    if (next > last) throw new TimeOver();
  };
}
