import { sentenceSegments } from "../../sentence-segments.js";

/** A part of a text; offsets in UTF-16 units, `end` behind the last one. */
export interface Section {
  start: number;
  end: number;
}

/** Whether a line break ends what a line says: in prose it does not, in code and tables it does. */
export type Layout = "flowing" | "lines";

/** A full stop after one of these ends no sentence. To join too much only makes a quote longer. */
const ABBREVIATION =
  /(?:^|[^\p{L}])(?:\p{L}|e\.g|i\.e|etc|vs|cf|approx|nos?|dr|mrs?|ms|st|figs?|secs?|ch|vol|pp?|inc|ltd|co|corp|jr|sr|al|ca|resp|incl|excl|max|min|est|dept|viz)\.["'’”)\]*_]*\s*$/iu;
const LIST_ITEM = /^\s*(?:[-*+•]|\d+[.)]|[a-z][.)])\s/i;
const TABLE_ROW = /^\s*\|/;
const HEADING = /^\s*#{1,6}\s/;
/** In code, comments of several lines are prose. */
const COMMENT = /^\s*(?:\/\/|\/?\*|#|--\s|;)/;

/** `section` extended to the sentences it touches; a list item takes along the line that introduces its list. */
export function wholeSentences(text: string, section: Section, layout: Layout): Section {
  const blocks = blocksOf(text, layout);
  const first = blocks.findIndex(({ end }) => end > section.start);
  const last = blocks.findLastIndex(({ start }) => start < section.end);
  const from = introduction(text, blocks, first);
  if (from < first) section = { ...section, start: blocks[from]?.start ?? section.start };
  const { start } = sentenceAt(text, blocks[from], section.start);
  const { end } = sentenceAt(text, blocks[last], section.end - 1);
  return trimmed(text, { start, end });
}

/** Stretches that no sentence goes beyond: paragraphs, list items, rows of tables, headings. */
function blocksOf(text: string, layout: Layout): Section[] {
  const blocks: Section[] = [];
  let open = false;
  let start = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const end = start + line.length;
    const alone = layout === "lines" ? !COMMENT.test(line) : TABLE_ROW.test(line) || HEADING.test(line);
    const last = blocks.at(-1);
    if (line.trim() === "") open = false;
    else if (open && last !== undefined && !alone && !LIST_ITEM.test(line)) last.end = end;
    else {
      blocks.push({ start, end });
      open = !alone;
    }
    start = end;
  }
  return blocks;
}

/** The index of the block that introduces the list which block `at` is in, as in `You must never:`; else `at`. */
function introduction(text: string, blocks: readonly Section[], at: number): number {
  const textOf = (index: number) => text.slice(blocks[index]?.start ?? 0, blocks[index]?.end ?? 0);
  if (at < 1 || !LIST_ITEM.test(textOf(at))) return at;
  let above = at - 1;
  while (above > 0 && LIST_ITEM.test(textOf(above))) above -= 1;
  // A comment of HTML or Markdown introduces nothing that is read.
  return /^\s*(?!<)\S[\s\S]*:\s*$/.test(textOf(above)) ? above : at;
}

/** The sentence of a block that holds the character at `offset`. */
function sentenceAt(text: string, block: Section | undefined, offset: number): Section {
  if (block === undefined) return { start: offset, end: offset + 1 };
  // A line break inside a paragraph ends no sentence; one character for one keeps the offsets.
  const flat = text.slice(block.start, block.end).replace(/\s/g, " ");
  let sentence: Section = { start: 0, end: 0 };
  for (const { segment, index } of sentenceSegments(flat)) {
    const joins = index > 0 && ABBREVIATION.test(flat.slice(Math.max(0, index - 20), index));
    sentence = { start: joins ? sentence.start : index, end: index + segment.length };
    const next = flat.slice(sentence.end);
    const goesOn = next !== "" && ABBREVIATION.test(flat.slice(Math.max(0, sentence.end - 20), sentence.end));
    if (!goesOn && block.start + sentence.end > offset) break;
  }
  return { start: block.start + sentence.start, end: block.start + sentence.end };
}

function trimmed(text: string, { start, end }: Section): Section {
  const inside = text.slice(start, end);
  return {
    start: start + (inside.length - inside.trimStart().length),
    end: end - (inside.length - inside.trimEnd().length),
  };
}
