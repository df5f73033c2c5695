import type { Corpus } from "../sources/corpus.js";
import { words } from "../sources/words.js";
import { coverage, distinct, rank, type Scored } from "./sentences.js";

/** What was found for a question. */
export interface Findings {
  /** The best sentences, for the direct answer; a subset of the quotes. */
  answer: Scored[];
  /** Best first. */
  quotes: Scored[];
  /** How many files were looked at, and why not more. */
  files: number;
  stopped: string | undefined;
}

const PASSAGES = 60;
const MAX_QUOTES = 6;
const MIN_QUOTES = 3;
const MAX_ANSWER = 3;
/** Below this share of the question's words, weighted by what they tell, a sentence is about something else. */
export const ABOUT = 0.34;
/** What a further quote must have of the best one's score, once there are MIN_QUOTES. */
const CLOSE = 0.45;

/** What a sentence of the direct answer must have of it. */
const SURE = 0.6;

/** Searches the corpus for what answers `prompt`. */
export function find(corpus: Corpus, prompt: string): Findings {
  const weights = corpus.weights(words(prompt).slice(0, 256));
  const ranked = rank(corpus.search(prompt, PASSAGES), prompt, weights);
  const best = ranked[0];
  const { fileCount: files, stopped } = corpus;
  if (best === undefined || coverage(best, weights) < ABOUT)
    return { answer: [], quotes: [], files, stopped };
  const quotes = distinct(ranked, MAX_QUOTES).filter(
    ({ score }, i) => i < MIN_QUOTES || score >= CLOSE * best.score,
  );
  const sure = quotes.filter(({ score }) => score >= SURE * best.score);
  const prose = sure.filter(({ kind }) => kind === "prose");
  const answer = (prose.length > 0 ? prose : sure).slice(0, MAX_ANSWER);
  return { answer, quotes, files, stopped };
}

/** The findings as Markdown: a direct answer, then quotes with `file:line`, then the sources. */
export function report(prompt: string, findings: Findings): string {
  const { answer, quotes, files, stopped } = findings;
  const title = `# ${oneLine(prompt)}`;
  const read = `${files} ${files === 1 ? "file was" : "files were"} read${stopped ? `; reading ${stopped}` : ""}.`;
  if (quotes.length === 0) {
    return `${title}\n\nNothing was found: no passage in the sources speaks of this. ${read}\n`;
  }
  const number = (quote: Scored) => quotes.indexOf(quote) + 1;
  const direct = answer.map((sentence) => `${ended(sentence.text)} [${number(sentence)}]`).join(" ");
  const cited = quotes.map(
    ({ file, line, quote }, i) =>
      `${i + 1}. \`${file}:${line}\`\n\n${quote.map((q) => `   > ${q}`).join("\n")}`,
  );
  const sources = [...new Set(quotes.map(({ file }) => file))].map((file) => {
    const lines = new Set(quotes.filter((quote) => quote.file === file).map(({ line }) => line));
    const sorted = [...lines].sort((a, b) => a - b);
    return `- \`${file}\`, ${sorted.length === 1 ? "line" : "lines"} ${sorted.join(", ")}`;
  });
  return [title, direct, "## Quotes", ...cited, "## Sources", sources.join("\n"), read]
    .join("\n\n")
    .concat("\n");
}

/** The findings as data, for a structured output without a schema. */
export function structured(findings: Findings) {
  const place = ({ file, line }: Scored) => `${file}:${line}`;
  return {
    answer: findings.answer.map(({ text }) => ended(text)).join(" "),
    quotes: findings.quotes.map((found) => ({ source: place(found), text: found.quote.join("\n") })),
    sources: [...new Set(findings.quotes.map(({ file }) => file))],
  };
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

function ended(text: string): string {
  return /[.!?:]["'`)*_]*$/.test(text) ? text : `${text}.`;
}
