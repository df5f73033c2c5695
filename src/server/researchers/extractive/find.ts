import type { FolderSearch } from "../sources/corpus.js";
import type { Description, Hit, Passage } from "../sources/source.js";
import { likeness, words } from "../sources/words.js";
import { contextOf, coverageOf, type Weights } from "./coverage.js";
import { readQuestion } from "./question.js";
import { linesOf } from "./sentences.js";
import { rankWindows, type Window, wholeWindow } from "./windows.js";

/** A window with what stands there, from the line `line` on (from 1), one entry for each line. */
export interface Quote extends Window {
  line: number;
  lines: string[];
}

/** What was found for a question. */
export interface Findings {
  /** Best first. Empty if nothing speaks of the question. */
  quotes: Quote[];
  /** How many of them, from the first, are the answer: more than one if a whole section is. */
  answers: number;
  description: Description;
}

const PASSAGES = 60;
/** A row of a table has few words of a question, and may be all of the answer. */
const ROWS = 20;
const MAX_QUOTES = 6;
const MIN_QUOTES = 3;
/** Below this coverage a window is about something else; lines of code match more by chance. */
const ABOUT = 0.5;
const CODE_ABOUT = 0.7;
/** What a further quote must have of the best one's score, once there are MIN_QUOTES. */
const CLOSE = 0.45;
/** Texts that share more of their words than this say the same. */
const SAME = 0.95;

/** Searches for what answers `prompt`. */
export async function find(search: FolderSearch, prompt: string): Promise<Findings> {
  const question = readQuestion(prompt);
  const { subject } = question;
  const weights = await search.weights(question.terms);
  const rows = await search.search(subject, ROWS, "table");
  const hits = [...(await search.search(subject, PASSAGES)), ...rows];
  const ranked = rankWindows(hits, question, weights);
  const description = await search.describe();
  const best = ranked.find(({ coverage, kind }) => coverage >= (kind === "code" ? CODE_ABOUT : ABOUT));
  if (best === undefined) return { quotes: [], answers: 0, description };
  const section = question.wantsSection ? await sectionFor(search, hits, weights, best.score) : [];
  const quotes = section.map(quoteOf);
  for (const window of [best, ...ranked]) {
    const isFar = quotes.length >= MIN_QUOTES && window.score < CLOSE * best.score;
    if (isFar || quotes.length >= section.length + MAX_QUOTES) break;
    const quote = quoteOf(window);
    const isSaid = quotes.some((one) => overlaps(one, quote) || likeness(one.terms, quote.terms) > SAME);
    if (!isSaid) quotes.push(quote);
  }
  return { quotes, answers: Math.max(1, section.length), description };
}

/** How far around a hit its section is read, in lines, and how many of its blocks are an answer. */
const SECTION_LINES = 80;
const SECTION_BLOCKS = 12;

/**
 * The section whose heading names what is asked for and nothing else, of those that speak of all of it: the rows of
 * its first table if it has one, else its blocks.
 */
async function sectionFor(
  search: FolderSearch,
  hits: readonly Hit[],
  weights: Weights,
  score: number,
): Promise<Window[]> {
  const [best] = hits
    .filter(({ passage }) => isNamed(passage, weights))
    .map(({ passage }) => ({
      passage,
      coverage: coverageOf(weights, new Set(words(passage.heading)), contextOf(passage)),
    }))
    .sort((a, b) => b.coverage - a.coverage);
  if (best === undefined || best.coverage < ABOUT) return [];
  const { id, line, heading } = best.passage;
  const opened = await search.open(id, line - SECTION_LINES, line + SECTION_LINES);
  const blocks = opened?.passages.filter((passage) => passage.heading === heading) ?? [];
  const first = blocks.find(({ kind }) => kind === "table");
  const rows = blocks.filter(({ kind, header }) => kind === "table" && `${header}` === `${first?.header}`);
  const parts = rows.length > 1 ? rows : blocks.filter(({ kind }) => kind === "prose");
  return parts.slice(0, SECTION_BLOCKS).map((passage) => wholeWindow(passage, weights, score));
}

/** Whether the nearest heading has a word of the question, and no other but numbers. */
function isNamed({ heading }: Passage, weights: Weights): boolean {
  const own = words(heading.split(" / ").at(-1) ?? "").filter((word) => !/^\d+$/.test(word));
  return own.length > 0 && own.every((word) => weights.has(word));
}

function quoteOf(window: Window): Quote {
  return { ...window, ...linesOf(window.passage, window.sentences) };
}

function overlaps(a: Quote, b: Quote): boolean {
  if (a.passage.id !== b.passage.id) return false;
  return a.line < b.line + b.lines.length && b.line < a.line + a.lines.length;
}
