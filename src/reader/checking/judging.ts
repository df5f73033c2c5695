import type { Clock } from "../../core/clock.js";
import type { CheckedCitation, Support } from "../../core/protocol/check-outcome.js";
import type { Claim } from "./citations.js";
import type { PageContent, Pause } from "./page-content.js";
import { type CitedPage, type Judgement, judge } from "./verdict.js";

/** For so long the program does nothing else while it judges, ms. */
const TURN_MS = 20;
/** After Ctrl-C or the end of its time a check judges what was read for so long, ms. */
const GRACE_MS = 1_000;

const NOT_JUDGED: Judgement = {
  ...{ verdict: "unchecked", missing: [], passage: null, page: undefined },
  reason: "the check ended before the sentence was judged",
};

/** Thrown by a Pause when the time to judge is over. */
class Ended extends Error {}

function endOrThrow(error: unknown): undefined {
  if (!(error instanceof Ended)) throw error;
}

/**
 * Judges the claims of a report in their order. Other work has its turn in between; `signal` and `end`, by the monotonic
 * clock, end it, and what was not judged by then is unchecked. `isWhole`: whether all were judged.
 */
export async function judgeAll(
  claims: readonly Claim[],
  pagesOf: (urls: readonly string[]) => CitedPage[],
  language: string | undefined,
  { clock, signal, end }: { clock: Pick<Clock, "monotonic">; signal: AbortSignal; end: number },
): Promise<{ citations: CheckedCitation[]; read: ReadCitation[]; isWhole: boolean }> {
  const citations: CheckedCitation[] = [];
  const read: ReadCitation[] = [];
  const pause = pauseUntil(clock, signal, end);
  let isWhole = true;
  const judgeInTime = async ({ text, over, urls }: Claim) => {
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

/** A citation of which a page was read, with the page of its passage. */
export interface ReadCitation {
  citation: CheckedCitation;
  over: string | undefined;
  content: PageContent;
}

/** An answer of a model that counts. */
export interface ProvenAnswer {
  support: Support;
  /** As it stands on the page; null if the model gave none. */
  quote: string | null;
}

/** Finds what a model says of citations; `getDigest` gives the SHA-256 of what was read of an address. */
export type FindSupport = (
  citations: readonly ReadCitation[],
  language: string | undefined,
  digestOf: (url: string) => string | null,
) => Promise<readonly (ProvenAnswer | undefined)[]>;

/** Adds the answers of a model: what no page states and a model proves is computed. */
export function addAnswers(
  read: readonly ReadCitation[],
  answers: readonly (ProvenAnswer | undefined)[],
): void {
  for (const [i, { citation }] of read.entries()) {
    Object.assign(citation, answers[i]);
    if (citation.verdict !== "missing" || citation.support !== "supported") continue;
    Object.assign(citation, { verdict: "unchecked", missing: [], reason: "it is computed from the quote" });
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
    if (next > last) throw new Ended();
  };
}
