import { MAX_LINE } from "../blocks/block.js";
import type { Hit, Passage } from "../sources/source.js";
import { words } from "../sources/words.js";
import { contextOf, coverageOf, labelFactor, type Weights, type WindowContext } from "./coverage.js";
import type { Question } from "./question.js";
import { type Sentence, sentencesOf } from "./sentences.js";

/** One to three neighbouring sentences of a passage. */
export interface Window {
  passage: Passage;
  sentences: readonly Sentence[];
  /** As one line to read. */
  text: string;
  kind: Sentence["kind"];
  /** Its own words. */
  terms: Set<string>;
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
/** What a further sentence adds: an answer often stands in the sentence after the one that names the subject. */
const PER_SENTENCE = 0.05;
const BY_KIND: Readonly<Record<Sentence["kind"], number>> = { prose: 1, row: 1, code: 0.75 };

/** The windows of `hits` by how well they answer the question, best first. */
export function rankWindows(hits: readonly Hit[], question: Question, weights: Weights): Window[] {
  return hits.flatMap((hit) => windowsOf(hit, question, weights)).sort((a, b) => b.score - a.score);
}

function windowsOf({ passage, score: relevance }: Hit, question: Question, weights: Weights): Window[] {
  const context = contextOf(passage);
  const passageFactor = (1 - BY_RELEVANCE + BY_RELEVANCE * relevance) * labelFactor(context, weights);
  const sentences = sentencesOf(passage);
  const found: Window[] = [];
  for (let i = 0; i < sentences.length; i++) {
    for (let n = 1; n <= MOST_SENTENCES && i + n <= sentences.length; n++) {
      const made = windowOf(passage, sentences.slice(i, i + n), context, weights);
      const { text, coverage, terms, kind } = made;
      if (text.length > (n > 1 ? MAX_TEXT : MAX_LINE)) break;
      const isAsked = question.literal !== undefined && text.toLowerCase().includes(question.literal);
      if (coverage === 0 || isAsked) continue;
      const own = [...weights.keys()].filter((term) => terms.has(term)).length;
      const news = terms.size <= own ? REPEATS : terms.size < FEW_WORDS ? FRAGMENT : 1;
      const fit = saysKind(text, question) * nearness(text, question) * news;
      const score = coverage * fit * passageFactor * BY_KIND[kind] * (1 + PER_SENTENCE * (n - 1));
      found.push({ ...made, score });
    }
  }
  return found;
}

/** A passage as a whole. */
export function wholeWindow(passage: Passage, weights: Weights, score: number): Window {
  return { ...windowOf(passage, sentencesOf(passage), contextOf(passage), weights), score };
}

function windowOf(
  passage: Passage,
  sentences: readonly Sentence[],
  context: WindowContext,
  weights: Weights,
): Omit<Window, "score"> {
  const text = sentences.map((sentence) => sentence.text).join(" ");
  const terms = new Set(words(text));
  const kind = sentences.some((each) => each.kind === "prose") ? "prose" : (sentences[0]?.kind ?? "code");
  return { passage, sentences, text, kind, terms, coverage: coverageOf(weights, terms, context) };
}

/** How much of the score the kind of answer, and the neighbourhood of the question's words, decide. */
const BY_KIND_OF_ANSWER = 0.5;
const BY_NEARNESS = 0.2;
/** How far apart neighbours may be, in words. */
const NEAR = [-3, -2, -1, 2, 3];
/** What a text counts that only repeats the question, and one with so few words that it is a title or a fragment. */
const REPEATS = 0.3;
const FEW_WORDS = 5;
const FRAGMENT = 0.75;

/** A text that says the kind of thing that is asked for is worth more: 0.5 to 1. */
function saysKind(text: string, { kinds }: Question): number {
  if (kinds.length === 0) return 1;
  const share = kinds.filter(({ says }) => says.test(text)).length / kinds.length;
  return 1 - BY_KIND_OF_ANSWER + BY_KIND_OF_ANSWER * share;
}

/** Words that are neighbours in the question belong together: 0.8 to 1 by the share that are neighbours in the text. */
function nearness(text: string, { terms }: Question): number {
  if (terms.length < 2) return 1;
  const said = words(text);
  const near = terms.slice(1).reduce((sum, term, i) => {
    const isAt = (by: number) => said.some((word, at) => word === terms[i] && said[at + by] === term);
    return sum + (isAt(1) ? 1 : NEAR.some(isAt) ? 0.5 : 0);
  }, 0);
  return 1 - BY_NEARNESS + (BY_NEARNESS * near) / (terms.length - 1);
}
