import type { Hit } from "../sources/corpus.js";
import type { Passage } from "../sources/passage.js";
import { words } from "../sources/words.js";

/** A sentence, or a line that stands for one, with where it is. */
export interface Sentence {
  file: string;
  /** Number of the line it begins on, from 1. */
  line: number;
  /** What is literally there, one entry a line. */
  quote: string[];
  /** The same as one line to read. */
  text: string;
  /** Prose was written for people, so that an answer can be made of it; a row is one of a table. */
  kind: "prose" | "row" | "code";
  /** What it is about: its own words and, with less weight, those of its headings. */
  terms: Set<string>;
  around: Set<string>;
}

export interface Scored extends Sentence {
  score: number;
}

/** Marks of lists, quotes, headings and comments at the beginning of a line. */
const LEAD = /^\s*(?:(?:[-*+>]|\d+[.)]|#{1,6}|\/{2,3}|\/\*\*?|\*|--|;+|<!--)\s+)*(?:\[[ x]\]\s+)?/;
const COMMENT = /^\s*(?:\/\/|\/?\*|#\s|--\s|;|"""|<!--)/;
const TABLE_RULE = /^[\s|:+-]+$/;
const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a passage. */
export function sentencesOf(passage: Passage): Sentence[] {
  const around = new Set(words(`${passage.heading} ${passage.kind === "table" ? passage.lines[0] : ""}`));
  return pieces(passage).map(({ line, quote, kind, sentence = quote.join(" ") }) => {
    const text = readable(sentence, passage.file);
    return { file: passage.file, line, quote, text, kind, terms: new Set(words(text)), around };
  });
}

interface Piece {
  line: number;
  quote: string[];
  kind: Sentence["kind"];
  /** Where the quoted lines hold more than it. */
  sentence?: string;
}

function pieces(passage: Passage): Piece[] {
  const found: Piece[] = [];
  let run: { line: number; text: string }[] = [];
  const close = () => {
    found.push(...joined(run));
    run = [];
  };
  passage.lines.forEach((raw, index) => {
    const line = passage.line + index;
    if (passage.kind === "table") {
      if (index > 0 && !TABLE_RULE.test(raw)) found.push({ line, quote: [raw.trim()], kind: "row" });
    } else if (passage.kind === "code" && !COMMENT.test(raw)) {
      close();
      if (/\p{L}{3}/u.test(raw)) found.push({ line, quote: [raw.trim()], kind: "code" });
    } else {
      const text = raw.replace(LEAD, "").replace(/\s*(?:\*\/|-->)?\s*$/, "");
      if (text !== "") run.push({ line, text });
    }
  });
  close();
  return found;
}

/** Sentences of consecutive lines; one that goes over a line's end is quoted by its whole lines. */
function joined(run: readonly { line: number; text: string }[]): Piece[] {
  const starts: number[] = [];
  let whole = "";
  for (const { text } of run) {
    starts.push(whole.length);
    whole += `${text} `;
  }
  return [...segmenter.segment(whole)].flatMap(({ segment, index }) => {
    const end = index + segment.trimEnd().length;
    const covered = run.filter((_, i) => {
      const start = starts[i] ?? 0;
      return start < end && start + (run[i]?.text.length ?? 0) > index;
    });
    const first = covered[0];
    if (first === undefined || segment.trim() === "") return [];
    const sentence = segment.trim();
    const quote = covered.length === 1 ? [sentence] : covered.map(({ text }) => text);
    return [{ line: first.line, quote, kind: "prose", sentence }];
  });
}

/** A quote as a person would read it: without tags, links' targets and the bars of tables. */
function readable(text: string, file: string): string {
  const plain = /\.x?html?$/i.test(file) ? text.replace(/<[^>]*>/g, " ") : text;
  return plain
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^\||\|$/g, "")
    .replace(/\s*\|\s*/g, "; ")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The sentences of `hits` by how much of the question they speak of, best first. `weights` holds the question's
 * words with what each one tells. A sentence that only repeats the question is none.
 */
export function rank(hits: readonly Hit[], prompt: string, weights: ReadonlyMap<string, number>): Scored[] {
  const question = prompt.includes("?") ? prompt.trim().toLowerCase() : undefined;
  const total = sum(weights.values());
  const scored = hits.flatMap(({ passage, score }) =>
    sentencesOf(passage).flatMap((sentence) => {
      const { terms, around } = sentence;
      const own = [...weights].filter(([term]) => terms.has(term));
      const lent = [...weights].filter(([term]) => !terms.has(term) && around.has(term));
      const news = terms.size - own.length;
      if (own.length === 0 || news < 1) return [];
      if (question !== undefined && sentence.text.toLowerCase().includes(question)) return [];
      const coverage = (sum(own.map(([, w]) => w)) + 0.4 * sum(lent.map(([, w]) => w))) / total;
      const length = terms.size < 5 ? 0.8 : terms.size > 45 ? 0.7 : 1;
      return [
        {
          ...sentence,
          score: coverage * length * (0.4 + 0.6 * score) * (sentence.kind === "prose" ? 1 : 0.85),
        },
      ];
    }),
  );
  return scored.sort((a, b) => b.score - a.score);
}

/** The best of `ranked`, at most `limit`, none saying what another one before it says already. */
export function distinct(ranked: readonly Scored[], limit: number): Scored[] {
  const chosen: Scored[] = [];
  for (const sentence of ranked) {
    if (chosen.length >= limit) break;
    if (!chosen.some((other) => alike(other.terms, sentence.terms) || overlap(other, sentence)))
      chosen.push(sentence);
  }
  return chosen;
}

/** Quotes of whole lines can share one. */
function overlap(a: Sentence, b: Sentence): boolean {
  if (a.file !== b.file || a.quote.length + b.quote.length === 2) return false;
  return a.line < b.line + b.quote.length && b.line < a.line + a.quote.length;
}

function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = [...a].filter((term) => b.has(term)).length;
  return shared / Math.min(a.size, b.size) > 0.85;
}

/** Which share of the words in `weights`, by what each tells, the sentence or its headings have. */
export function coverage({ terms, around }: Sentence, weights: ReadonlyMap<string, number>): number {
  const met = [...weights].filter(([term]) => terms.has(term) || around.has(term));
  return sum(met.map(([, weight]) => weight)) / Math.max(sum(weights.values()), Number.MIN_VALUE);
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
