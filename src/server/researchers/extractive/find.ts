import type { FolderSearch } from "../sources/folder-search.js";
import type { Description, Passage } from "../sources/source.js";
import { related } from "../sources/synonyms.js";
import { words } from "../sources/words.js";
import { type Question, readQuestion } from "./question.js";
import { rankWindows, type Window } from "./windows.js";

/** What was found for a question. */
export interface Findings {
  /** Best first: the first one is the answer. Empty if nothing speaks of the question. */
  quotes: Window[];
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
  const weights = await search.weights(question.terms);
  const weighted = new Map(question.terms.map((term, i) => [term, weights[i] ?? 0]));
  const [passages, rows] = [
    await search.search(question.subject, PASSAGES),
    await search.search(question.subject, ROWS, "table"),
  ];
  const known = new Set(passages.map(({ passage }) => placeOf(passage)));
  const hits = [...passages, ...rows.filter(({ passage }) => !known.has(placeOf(passage)))];
  const ranked = rankWindows(hits, question, weighted);
  const description = await search.describe();
  const best = ranked.find((window) => isAbout(window, question));
  if (best === undefined) return { quotes: [], description };
  const quotes = distinct([best, ...ranked.filter((window) => window !== best)]).filter(
    ({ score }, i) => i < MIN_QUOTES || score >= CLOSE * best.score,
  );
  return { quotes, description };
}

/** Whether a window speaks of the question: of enough of its words, and of more than one if there are more. */
function isAbout({ coverage, kind, terms, heading, file }: Window, question: Question): boolean {
  if (coverage < (kind === "code" ? CODE_ABOUT : ABOUT)) return false;
  const around = new Set([...terms, ...words(`${heading} ${file}`)]);
  const said = question.terms.filter(
    (term) => around.has(term) || related(term).some((other) => around.has(other)),
  );
  return said.length >= Math.min(2, question.terms.length);
}

function placeOf({ id, line, lines }: Passage): string {
  return `${id}:${line}:${lines[0]}`;
}

/** The first MAX_QUOTES of `ranked`, none that says what another one before it says already. */
function distinct(ranked: readonly Window[]): Window[] {
  const chosen: Window[] = [];
  for (const window of ranked) {
    if (chosen.length >= MAX_QUOTES) break;
    if (!chosen.some((other) => isAlike(other.terms, window.terms) || overlaps(other, window)))
      chosen.push(window);
  }
  return chosen;
}

function overlaps(a: Window, b: Window): boolean {
  return a.file === b.file && a.line < b.line + b.quote.length && b.line < a.line + a.quote.length;
}

function isAlike(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = [...a].filter((term) => b.has(term)).length;
  return shared / (a.size + b.size - shared) > SAME;
}
