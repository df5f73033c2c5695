import { isComment } from "../blocks/code-blocks.js";
import { sentencesIn } from "../sentences-in.js";
import type { Passage } from "../sources/source.js";

/** A sentence, or a line of code or of a table that stands for one. */
export interface Sentence {
  /** Where it stands in the lines of its passage, joined by line breaks; `end` is behind it. */
  start: number;
  end: number;
  /** As one line to read. */
  text: string;
  /** Prose was written for people; a row is one of a table. */
  kind: "prose" | "row" | "code";
}

/** Marks of lists, quotes and comments at the beginning of a line. */
const LEAD =
  /^\s*(?:(?:[-*+>•]|\d{1,3}[.)]|\.{1,3}|\/{2,3}!?|\/\*\*?|\*|#+|--|;+|<!--|"""|<\d+>)\s+)*(?:\[[ x]\]\s+)?/;
const TAIL = /(?:\*\/|-->|""")\s*$/;

/** The sentences of a passage, in order. */
export function sentencesOf(passage: Passage): Sentence[] {
  const pieces: Sentence[] = [];
  let start = 0;
  for (const { text, kind } of plainLines(passage)) {
    const end = start + text.length;
    const last = pieces.at(-1);
    if (last?.kind === kind && kind !== "code") Object.assign(last, { end, text: `${last.text} ${text}` });
    else pieces.push({ start, end, text, kind });
    start = end + 1;
  }
  return pieces.flatMap((piece) => {
    if (piece.kind === "prose") return split(piece);
    if (piece.kind === "row") return { ...piece, text: readable(piece.text) };
    return /\p{L}{2}/u.test(piece.text) ? { ...piece, text: piece.text.trim() } : [];
  });
}

/** The lines of a passage with blanks for the marks around sentences, every other character where it was. */
function plainLines({ lines, kind }: Passage): Pick<Sentence, "text" | "kind">[] {
  const blank = (marks: string) => " ".repeat(marks.length);
  return lines.map((line) => {
    if (kind === "table") return { text: line, kind: "row" };
    if (kind === "code" && !isComment(line)) return { text: line, kind: "code" };
    return { text: line.replace(LEAD, blank).replace(TAIL, blank), kind: "prose" };
  });
}

function split({ start, text, kind }: Sentence): Sentence[] {
  return [...sentencesIn(text)].flatMap(({ segment, index }) => {
    const from = start + index + segment.length - segment.trimStart().length;
    const end = start + index + segment.trimEnd().length;
    return from < end ? { start: from, end, text: readable(segment), kind } : [];
  });
}

/** The lines of neighbouring sentences as they stand in the file, without what is before and after. */
export function linesOf(passage: Passage, sentences: readonly Sentence[]): { line: number; lines: string[] } {
  const text = plainLines(passage)
    .map((line) => line.text)
    .join("\n");
  const from = sentences[0]?.start ?? 0;
  const above = text.slice(0, from).split("\n").length - 1;
  const lines = text.slice(from, sentences.at(-1)?.end).split("\n");
  return { line: passage.line + above, lines: lines.map((line) => line.trim()) };
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
