import { findQuotationPlaces } from "../matching/quotations.js";
import { isAbbreviated, splitSentences } from "../parsing/split-sentences.js";
import { OBJECT } from "./citation-marks.js";
import type { CitationMark, ReportLine } from "./report-line.js";
import type { ReportUnit } from "./report-units.js";

/** A sentence of a report, without its marks. Its place includes the marks. */
export interface Sentence {
  text: string;
  start: number;
  end: number;
  marks: CitationMark[];
}

interface LineSentence extends Sentence {
  /** Whether the sentence consists only of links, and whether these are on their own line. */
  isLinks: boolean;
  isLine: boolean;
  /** Whether a mark follows the last word. */
  citesAtEnd: boolean;
}

/** Matches the punctuation or "and" between marks that belong together. */
const BETWEEN = /^[\s,;、·&/|+–-]*(?:(?:and|und|et|y|e|en|и|和|と)\s+)?$/u;
/** Matches the opening of a bracket that contains only marks. */
const OPENING =
  /[([（［^⁽]\s*(?:(?:\p{L}[\p{L}-]{0,20}[\s.]{0,2}){1,3}:|(?:see|siehe|vgl\.|cf\.|via|from|source|quelle|voir|ver|véase|vedi|zie)(?:\s+(?:also|auch))?)?\s*$/iu;
/** Matches link texts that only name a source: a number, an address, the name of a site, a word. */
const SOURCE_TEXT =
  /^[\s[\]()^]*(?:[⁰¹²³⁴-⁹]{1,3}|[a-z]?\d{1,3}(?:[\s[\]()^,;]{1,3}\d{1,3}){0,9}|https?:\/\/\S*|(?:[\w-]+\.)+[a-z]{2,}(?:\/\S*)?|\S[^\n]{0,40}\+\d{1,2}|oai_citation[^\n]*|sources?|links?|here|quellen?|hier|via|ref(?:erence)?)[\s[\]()]*$/i;
/** Matches words beside a link that only introduce the source. */
const SOURCE_WORDS =
  /(?<!\p{L})(?:sources?|quellen?|see|also|siehe|auch|vgl|via|cf|and|und|or|references?|from|link|links)(?!\p{L})|^\s*\p{L}{1,20}:/giu;

const hasWords = (text: string) => /[\p{L}\p{Nd}]/u.test(text);

/** Lists the sentences of a unit. A row is one sentence. `isMark` decides whether a candidate is a mark. */
export function listSentences(
  { kind, lines }: ReportUnit,
  isMark: (mark: CitationMark) => boolean,
): Sentence[] {
  const all = lines.flatMap((line) =>
    splitLineIntoSentences(line, line.marks.filter(isMark), kind === "row"),
  );
  if (kind !== "row") return joinSentences(all, kind === "item");
  const text = all
    .map((cell) => cell.text)
    .filter(Boolean)
    .join(" | ");
  const place = { start: all[0]?.start ?? 0, end: Math.max(...all.map(({ end }) => end)) };
  return hasWords(text) ? [{ text, ...place, marks: all.flatMap(({ marks }) => marks) }] : [];
}

/** Joins links with the sentence before them. `isItem`: if a list item cites only at its end, all of it becomes one claim. */
function joinSentences(sentences: readonly LineSentence[], isItem: boolean): Sentence[] {
  const all: LineSentence[] = [];
  for (const sentence of sentences) {
    const before = all.at(-1);
    if (sentence.isLinks && before) {
      for (const each of sentence.isLine ? all : [before]) each.marks.push(...sentence.marks);
      before.end = sentence.end;
      before.citesAtEnd = true;
    } else if (hasWords(sentence.text) && !(sentence.isLinks && sentence.text.split(" ").length < 5))
      all.push(sentence);
  }
  const last = all.at(-1);
  const isOne =
    isItem && last?.citesAtEnd && all.every((sentence) => sentence === last || sentence.marks.length === 0);
  return isOne ? [{ ...last, start: all[0]?.start ?? 0, text: all.map(({ text }) => text).join(" ") }] : all;
}

function splitLineIntoSentences(
  line: ReportLine,
  marks: readonly CitationMark[],
  isWhole: boolean,
): LineSentence[] {
  const cuts = listPartsToCut(line, marks);
  const shown = blankOutParts(line.text, cuts);
  const bare = blankOutParts(shown, marks);
  let [begin, next] = [0, 0];
  return (isWhole ? [shown.length] : listSentenceEnds(line, shown, marks)).map((end): LineSentence => {
    const first = next;
    while (next < marks.length && (marks[next]?.to ?? 0) <= end) next += 1;
    const ownMarks = marks.slice(first, next);
    const text = shown.slice(begin, end);
    const at = begin + text.length - text.trimStart().length;
    const place = line.placeOf(at, begin + text.trimEnd().length);
    const isLinks = ownMarks.length > 0 && !hasWords(bare.slice(begin, end).replace(SOURCE_WORDS, ""));
    const behind = bare.slice(ownMarks.at(-1)?.to ?? begin, end);
    begin = end;
    return {
      ...{ text: removeObjectChars(text), marks: ownMarks, isLinks, citesAtEnd: !hasWords(behind) },
      ...{ start: place.start, end: Math.max(place.end, ownMarks.at(-1)?.end ?? 0) },
      isLine: /\n\s*$/.test(line.text.slice(Math.max(0, at - 10), at)),
    };
  });
}

/** Replaces `cuts`, which are sorted by start, with object characters, so that all offsets stay. */
function blankOutParts(text: string, cuts: readonly { from: number; to: number }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of cuts) {
    parts.push(text.slice(at, from), OBJECT.repeat(Math.max(0, to - Math.max(at, from))));
    at = Math.max(at, to);
  }
  return parts.join("") + text.slice(at);
}

/** Puts a text on one line and replaces each object character with a blank, or with nothing before punctuation. */
function removeObjectChars(text: string): string {
  return (
    text
      .replace(/[\s\u200b]*\ufffc[\s\u200b\ufffc]*(?=[.,;:!?)\]…”’»。，、；：！？）]|$)/g, "")
      .replace(/[\s\ufffc]+/g, " ")
      .replaceAll("{,}", ",") // The comma of 1,000 in TeX.
      // Remove asterisks of bold text that Markdown leaves between a full stop and a letter or raised digit.
      .replace(/(?<![\p{L}\d])\*\*(?=\S)|(?<=\S)\*\*(?![\p{L}\d])/gu, "")
      .trim()
  );
}

/** Lists the ends of sentences. A mark after a full stop belongs to the sentence. No sentence ends inside a quotation. */
function listSentenceEnds(line: ReportLine, shown: string, marks: readonly CitationMark[]): number[] {
  const text = shown.replaceAll(OBJECT, " ");
  const ends = new Set([...splitSentences(text)].map(({ segment, index }) => index + segment.length));
  for (const { from, to } of marks) {
    const [behind = ""] = /^["”’»)\]]{0,3}[.!?…]?["”’»)\]]{0,3}\s*/.exec(text.slice(to, to + 40)) ?? [];
    const before = (line.text.slice(Math.max(0, from - 40), from).trimEnd() + behind).trimEnd();
    const isEnd = /[.!?…]["”“’»)\]*_]*$/.test(before) && !isAbbreviated(before);
    if (isEnd && !/^\p{Ll}+(?![\p{L}\p{N}])/u.test(text.slice(to + behind.length, to + behind.length + 40)))
      ends.add(to + behind.length);
  }
  const quoted = findQuotationPlaces(text);
  let next = 0;
  return [...ends]
    .sort((a, b) => a - b)
    .filter((end) => {
      while ((quoted[next]?.end ?? Infinity) <= end) next += 1;
      return end > 0 && (quoted[next]?.start ?? Infinity) >= end;
    });
}

/** Lists the parts of a line to remove, in order: marks, and brackets and separators that contain only marks. */
function listPartsToCut(
  { text }: ReportLine,
  marks: readonly CitationMark[],
): { from: number; to: number }[] {
  const cuts: { from: number; to: number }[] = [];
  for (let first = 0; first < marks.length; ) {
    let last = first;
    while (last + 1 < marks.length && BETWEEN.test(text.slice(marks[last]?.to, marks[last + 1]?.from)))
      last += 1;
    const group = marks.slice(first, last + 1);
    first = last + 1;
    const [from, to] = [group[0]?.from ?? 0, group.at(-1)?.to ?? 0];
    const opening = OPENING.exec(text.slice(Math.max(0, from - 60), from))?.[0].length;
    const closing = /^\s*[)\]）］^⁾]/.exec(text.slice(to, to + 3))?.[0].length;
    if (opening !== undefined && closing !== undefined) cuts.push({ from: from - opening, to: to + closing });
    else
      for (const mark of group) {
        const before = cuts.at(-1);
        // Remove the separator between two marks with them.
        const isNext = before && before.from >= from && BETWEEN.test(text.slice(before.to, mark.from));
        if (isLinkTextShown(text, mark)) continue;
        if (isNext) before.to = mark.to;
        else cuts.push({ from: mark.from, to: mark.to });
      }
  }
  return cuts;
}

/** Returns whether the text of a link is part of the sentence. A short text after the end of the sentence is not. */
export function isLinkTextShown(text: string, { certainty, from, to }: CitationMark): boolean {
  const shown = text.slice(from, to);
  const isBehind =
    /[.!?。]["”’)]?\s*$/.test(text.slice(Math.max(0, from - 4), from)) &&
    /^\s*(?:$|["“„«\p{Lu}\p{N}[(])/u.test(text.slice(to, to + 3));
  return certainty === "link" && !SOURCE_TEXT.test(shown) && !(isBehind && shown.split(/\s+/).length < 5);
}
