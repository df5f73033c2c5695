import { isComment } from "../blocks/code-blocks.js";
import { sentenceSegments } from "../sentence-segments.js";
import type { Passage } from "../sources/source.js";

/** A piece of one line of a passage: from character `start` to before `end` of `lines[index]`. */
interface Part {
  index: number;
  start: number;
  end: number;
}

/** A sentence, or a line of code or of a table that stands for one. */
export interface Sentence {
  parts: Part[];
  /** As one line to read. */
  text: string;
  /** Prose was written for people; a row is one of a table. */
  kind: "prose" | "row" | "code";
}

/** Marks of lists, quotes and comments at the beginning of a line. */
const LEAD =
  /^\s*(?:(?:[-*+>•]|\d{1,3}[.)]|\.{1,3}|\/{2,3}!?|\/\*\*?|\*|#+|--|;+|<!--|"""|<\d+>)\s+)*(?:\[[ x]\]\s+)?/;
const TAIL = /\s*(?:\*\/|-->|""")?\s*$/;
/** Where the segmenter sees an end and a reader sees none. */
const ABBREVIATION =
  /(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|ca|fig|sec|no|vol|dr|mr|mrs|st)\.|\(see\.)\s*$/i;

/** What no sentence begins with: a small letter, or a mark that closes what was opened before. */
const GOES_ON = /^(?:\p{Ll}|[)\]”’,;]|[`'"][\s.,;)])/u;

/** The sentences of a passage, in order. */
export function sentencesOf(passage: Passage): Sentence[] {
  if (passage.kind === "table") return [row(passage)];
  const found: Sentence[] = [];
  let run: Part[] = [];
  const close = () => {
    found.push(...split(passage, run));
    run = [];
  };
  passage.lines.forEach((raw, index) => {
    const isCode = passage.kind === "code" && !isComment(raw);
    const start = isCode ? raw.length - raw.trimStart().length : (LEAD.exec(raw)?.[0].length ?? 0);
    const end = isCode ? raw.trimEnd().length : lastOf(raw, start);
    if (!isCode && start < end) run.push({ index, start, end });
    if (!isCode) return;
    close();
    if (/\p{L}{2}/u.test(raw)) found.push({ parts: [{ index, start, end }], text: raw.trim(), kind: "code" });
  });
  close();
  return found;
}

function lastOf(raw: string, start: number): number {
  const trimmed = raw.trimEnd();
  const mark = TAIL.exec(trimmed.slice(-8))?.[0].length ?? 0;
  return Math.max(start, trimmed.slice(0, trimmed.length - mark).trimEnd().length);
}

function row(passage: Passage): Sentence {
  const parts = passage.lines.map((text, index) => ({
    index,
    start: text.length - text.trimStart().length,
    end: text.trimEnd().length,
  }));
  const text = readable(passage.lines.filter(Boolean).join(" "));
  return { parts: parts.filter(({ start, end }) => start < end), text, kind: "row" };
}

/** The sentences of consecutive pieces of lines. */
function split(passage: Passage, run: readonly Part[]): Sentence[] {
  const starts: number[] = [];
  let whole = "";
  for (const { index, start, end } of run) {
    starts.push(whole.length);
    whole += `${passage.lines[index]?.slice(start, end)} `;
  }
  return segments(whole).map(({ from, to }) => {
    const parts = run.flatMap(({ index, start, end }, i) => {
      const at = starts[i] ?? 0;
      const first = Math.max(start, start + from - at);
      const last = Math.min(end, start + to - at);
      return first < last ? [{ index, start: first, end: last }] : [];
    });
    return { parts, text: readable(whole.slice(from, to)), kind: "prose" };
  });
}

function segments(whole: string): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let from = 0;
  for (const { segment, index } of sentenceSegments(whole)) {
    const to = index + segment.trimEnd().length;
    const rest = whole.slice(index + segment.length, index + segment.length + 2);
    if (rest !== "" && (ABBREVIATION.test(segment.slice(-12)) || GOES_ON.test(rest))) continue;
    const blanks = /^[ \t]*/.exec(whole.slice(from, to))?.[0].length ?? 0;
    if (from + blanks < to) found.push({ from: from + blanks, to });
    from = index + segment.length;
  }
  return found;
}

/** The lines from the first to the last part, as they stand in the file, without what is before and after. */
export function quoteOf(passage: Passage, sentences: readonly Sentence[]): { line: number; lines: string[] } {
  const parts = sentences.flatMap((sentence) => sentence.parts);
  const first = Math.min(...parts.map(({ index }) => index));
  const last = Math.max(...parts.map(({ index }) => index));
  const lines: string[] = [];
  for (let index = first; index <= last; index++) {
    const here = parts.filter((part) => part.index === index);
    const start = Math.min(...here.map((part) => part.start));
    const end = Math.max(...here.map((part) => part.end));
    lines.push(here.length === 0 ? "" : (passage.lines[index] ?? "").slice(start, end));
  }
  return { line: passage.line + first, lines };
}

/** A name at the beginning of a list's item, which says what the item is about: "- `timeout` {number} …". */
export function itemName(line = ""): { name: string; isCode: boolean } | undefined {
  const [, code, bold] = /^\s{0,40}[-*+]\s{1,4}(?:\[?`([^`]{1,80})`|\*\*([^*]{1,80})\*\*)/.exec(line) ?? [];
  const name = code ?? bold;
  return name === undefined ? undefined : { name, isCode: code !== undefined };
}

/** A quote as a person would read it: without the targets of links, the bars of tables and marks that stand for nothing. */
export function readable(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/!?\[([^\]]{0,300})\](?:\([^)\s]{0,500}\)|\[[^\]]{0,200}\])/g, "$1")
    .replace(/^\||\|$/g, "")
    .replace(/ ?\| ?/g, "; ")
    .trim();
}
