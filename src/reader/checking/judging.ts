import type { Clock } from "../../core/clock.js";
import type { CheckedCitation, Support } from "../../core/protocol/check-outcome.js";
import type { CitedClaim } from "./citations.js";
import type { PageContent, Pause } from "./page-content.js";
import { type CitedPage, type Judgement, judge } from "./verdict.js";

/** The longest time that judging blocks the event loop, ms. */
const TURN_MS = 20;
/** How long a check goes on judging after Ctrl-C or its timeout, ms. */
const GRACE_MS = 1_000;

const NOT_JUDGED: Judgement = {
  ...{ verdict: "unchecked", missing: [], passage: null, page: undefined },
  reason: "the check ended before the sentence was judged",
};

/** Thrown by a Pause when the time to judge is over. */
class TimeOver extends Error {}

function endOrThrow(error: unknown): undefined {
  if (!(error instanceof TimeOver)) throw error;
}

/**
 * Judges the claims of a report in order and yields to other work in between. After `signal` or `end` (monotonic clock),
 * claims that are not judged yet are unchecked. `isWhole`: whether all claims were judged.
 */
export async function judgeAll(
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
    return judge(text, pagesOf(urls), language, over, pause);
  };
  for (const claim of claims) {
    const judged: Judgement | undefined = isWhole ? await judgeInTime(claim).catch(endOrThrow) : undefined;
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

/** A citation whose page could be read, with that page; of several pages, the one with its passage. */
export interface ReadCitation {
  citation: CheckedCitation;
  over: string | undefined;
  content: PageContent;
}

/** A model's answer that is proven by its quote. */
export interface ProvenAnswer {
  support: Support;
  /** As written on the page; null if the model gave no quote. */
  quote: string | null;
}

/** The answer to a citation that a model was asked about; null if no quote proves the model's answer. */
export type Answer = ProvenAnswer | Record<keyof ProvenAnswer, null>;

/** Asks a model about citations. `digestOf` returns the SHA-256 of the text read from an address. */
export type FindSupport = (
  citations: readonly ReadCitation[],
  language: string | undefined,
  digestOf: (url: string) => string | null,
) => Promise<readonly (Answer | undefined)[]>;

/** Adds the model's answers. A `missing` claim that is supported becomes `unchecked`: its figure is computed from the quote. */
export function addAnswers(read: readonly ReadCitation[], answers: readonly (Answer | undefined)[]): void {
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
