import { MAX_LINE } from "../blocks/block.js";
import type { Hit, Passage } from "../sources/source.js";
import { words } from "../sources/words.js";
import { type Context, contextOf, coverageOf, headingFactor } from "./coverage.js";
import { lengthFactor, literalIn, nearness, saysKind } from "./fit.js";
import type { Question } from "./question.js";
import { quoteOf, type Sentence, sentencesOf } from "./sentences.js";

/** One to three neighbouring sentences of a passage. */
export interface Window {
  file: string;
  /** Number of the line that the quote begins on, from 1. */
  line: number;
  /** What stands there, one entry for each line. */
  quote: string[];
  /** The same as one line to read. */
  text: string;
  heading: string;
  kind: Sentence["kind"];
  /** The titles of the columns, if it is a row. */
  header?: string[];
  /** Its own words. */
  terms: Set<string>;
  context: Context;
  /** Which share of the question it speaks of, with what is around it: 0 to 1. */
  coverage: number;
  score: number;
}

const MOST_SENTENCES = 3;
/** More characters are no answer at a glance. */
const MAX_TEXT = 450;
// What each sign counts was measured on questions with known answers; around these values little changes.
/** How much of the score the rank of the passage decides. */
const BY_RELEVANCE = 0.3;
/** How much of the coverage one sentence alone has to have. */
const BY_ONE_SENTENCE = 0.4;
/** What a further sentence adds: an answer often stands in the sentence after the one that names the subject. */
const PER_SENTENCE = 0.05;
/** A sentence with this coverage that says the kind of thing asked for needs no other one after it. */
const COMPLETE = 0.95;
const BY_KIND: Readonly<Record<Sentence["kind"], number>> = { prose: 1, row: 1, code: 0.75 };

/** The windows of `hits` by how well they answer the question, best first. `weights`: what each of its words tells. */
export function rankWindows(
  hits: readonly Hit[],
  question: Question,
  weights: ReadonlyMap<string, number>,
): Window[] {
  const scored = hits.flatMap(({ passage, score }) => windowsOf(passage, score, question, weights));
  return scored.sort((a, b) => b.score - a.score);
}

function windowsOf(
  passage: Passage,
  relevance: number,
  question: Question,
  weights: ReadonlyMap<string, number>,
): Window[] {
  const context = contextOf(passage);
  const passageFactor = (1 - BY_RELEVANCE + BY_RELEVANCE * relevance) * headingFactor(context, weights);
  const sentences = sentencesOf(passage).map((sentence) => ({
    ...sentence,
    alone: coverageOf(weights, new Set(words(sentence.text)), context),
  }));
  const found: Window[] = [];
  for (let i = 0; i < sentences.length; i++) {
    for (let n = 1; n <= MOST_SENTENCES && i + n <= sentences.length; n++) {
      const taken = sentences.slice(i, i + n);
      const text = taken.map((sentence) => sentence.text).join(" ");
      if (text.length > (n > 1 ? MAX_TEXT : MAX_LINE)) break;
      if (literalIn(text, question)) continue;
      const single = Math.max(...taken.map(({ alone }) => alone));
      const made = windowOf(passage, taken, text, context, weights);
      if (made.coverage === 0) continue;
      const covered = (1 - BY_ONE_SENTENCE) * made.coverage + BY_ONE_SENTENCE * single;
      const own = [...weights.keys()].filter((term) => made.terms.has(term)).length;
      const fit = saysKind(text, question) * nearness(text, question) * lengthFactor(made.terms.size, own);
      const score = covered * fit * passageFactor * BY_KIND[made.kind] * (1 + PER_SENTENCE * (n - 1));
      found.push({ ...made, score });
      if (made.coverage >= COMPLETE && question.kinds.length > 0 && saysKind(text, question) === 1) break;
    }
  }
  return found;
}

/** A passage as a whole. */
export function wholeWindow(passage: Passage, weights: ReadonlyMap<string, number>, score: number): Window {
  const sentences = sentencesOf(passage);
  const text = sentences.map((sentence) => sentence.text).join(" ");
  return { ...windowOf(passage, sentences, text, contextOf(passage), weights), score };
}

function windowOf(
  passage: Passage,
  taken: readonly Sentence[],
  text: string,
  context: Context,
  weights: ReadonlyMap<string, number>,
): Omit<Window, "score"> {
  const terms = new Set(words(text));
  const kind = taken.some((each) => each.kind === "prose") ? "prose" : (taken[0]?.kind ?? "code");
  const { line, lines: quote } = quoteOf(passage, taken);
  return {
    file: passage.id,
    ...(passage.header && { header: passage.header }),
    line,
    quote,
    text,
    heading: passage.heading,
    kind,
    terms,
    context,
    coverage: coverageOf(weights, terms, context),
  };
}
