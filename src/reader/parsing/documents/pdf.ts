import type { Block } from "../blocks/block.js";
import { readTextBlocks } from "../blocks/text-blocks.js";
import type { ReadDocument } from "./document-reader.js";

/** A line of a page. Positions in points from the lower left corner; `size` is the height of the letters. */
interface Line {
  text: string;
  x: number;
  end: number;
  y: number;
  size: number;
}

/** The distance to the line above that begins a paragraph, relative to the usual distance. */
const GAP = 1.3;
/** The change of indentation that begins a paragraph if the two lines before it were aligned, relative to the letters' size. */
const INDENT = 0.8;
/** The gap in a line that separates table cells, relative to the letters' size. */
const CELL = 1.5;
/** How much larger than usual the letters of a heading are, and the longest heading in characters. */
const LARGER = 1.15;
const LONGEST_HEADING = 120;
/** The most lines of a block, more than a page has. */
const LONGEST_PARAGRAPH = 100;

/**
 * Reads the blocks of a PDF. The heading of each names the page; lines are numbered through the whole text. Stops reading pages
 * after `most` characters. Throws if there is no text, or if the optional package for PDF is missing.
 */
export async function readPdfBlocks(
  bytes: Uint8Array,
  most = Number.POSITIVE_INFINITY,
): Promise<ReadDocument> {
  const { getDocumentProxy } = await import("unpdf").catch(() => {
    throw new Error("a PDF needs the package unpdf: npm install -g unpdf");
  });
  // Copy the bytes, because the library rejects a Buffer and takes ownership of its input.
  const document = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    useSystemFonts: false,
  });
  const pages: Line[][] = [];
  let size = 0;
  for (let nth = 1; nth <= document.numPages && size <= most; nth++) {
    const page = await document.getPage(nth);
    const { items } = await page.getTextContent();
    const lines = joinPageLines(items.flatMap((item) => ("str" in item ? item : [])));
    pages.push(lines);
    for (const { text } of lines) size += text.length;
    page.cleanup();
  }
  const usual = findMostFrequent(pages.flat().map(({ size, text }) => [size, text.length]));
  const gaps = pages.flatMap((lines) => lines.map(({ y }, i) => (lines[i - 1]?.y ?? y) - y));
  const leading = findMostFrequent(gaps.map((gap) => [gap, gap > 0 ? 1 : 0]));
  const pageWords = new Set(pages.flat().flatMap(({ text }) => text.toLowerCase().match(/\p{L}+/gu) ?? []));
  const blocks: Block[] = [];
  let above = 0;
  for (const [index, lines] of pages.entries()) {
    const text = joinSplitWords(joinLinesToText(lines, usual, leading), pageWords);
    for (const block of readTextBlocks(text, "text", LONGEST_PARAGRAPH)) {
      const heading = [`page ${index + 1}`, block.heading].filter(Boolean).join(" / ");
      blocks.push({ ...block, line: above + block.line, heading });
    }
    above += text.split("\n").length;
  }
  if (blocks.length === 0) throw new Error("it has no text, only pictures");
  return { blocks, ...(pages.length < document.numPages && { isCut: true }) };
}

/** A text item of pdf.js, with its position. */
interface Item {
  str: string;
  transform: readonly number[];
  width: number;
}

/** Joins items to lines, in the order of the file, which usually is the reading order. */
function joinPageLines(items: readonly Item[]): Line[] {
  const lines: Line[] = [];
  for (const { str, transform, width } of items) {
    const [a = 0, b = 0, , , x = 0, y = 0] = transform;
    const size = Math.hypot(a, b) || 1;
    const last = lines.at(-1);
    if (str.trim() === "") {
      if (last && last.text !== "" && str !== "") last.text += " ";
      continue;
    }
    if (last && Math.abs(last.y - y) < size / 2 && x >= last.x) {
      const blank = x - last.end > CELL * size ? "   " : x - last.end > 0.15 * size ? " " : "";
      last.text = blank === "" ? last.text + str : `${last.text.trimEnd()}${blank}${str.trimStart()}`;
      last.end = x + width;
      last.size = Math.max(last.size, size);
    } else lines.push({ text: str, x, end: x + width, y, size });
  }
  return lines.map((line) => ({ ...line, text: line.text.trim() }));
}

/** Returns the value, rounded to halves, with the highest total weight; 0 without values. */
function findMostFrequent(values: readonly (readonly [value: number, weight: number])[]): number {
  const weights = new Map<number, number>();
  for (const [value, weight] of values) {
    const rounded = Math.round(value * 2) / 2;
    weights.set(rounded, (weights.get(rounded) ?? 0) + weight);
  }
  return [...weights].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

/** Joins lines to a text, with a blank line between paragraphs and around headings. */
function joinLinesToText(lines: readonly Line[], usual: number, leading: number): string {
  let text = "";
  let block: Line[] = [];
  for (const line of lines) {
    const last = block.at(-1);
    const isLarge = line.size > LARGER * usual && line.text.length <= LONGEST_HEADING;
    const isNew = last !== undefined && (isLarge || isParagraphStart(line, last, leading, block.length > 1));
    if (isNew) block = [];
    text += `${text === "" ? "" : isNew ? "\n\n" : "\n"}${isLarge ? "## " : ""}${line.text}`;
    block.push(line);
  }
  return text;
}

function isParagraphStart(line: Line, last: Line, leading: number, isFollowed: boolean): boolean {
  const below = last.y - line.y;
  const isRow = /\S {3}\S/.test(line.text);
  const isOut = isFollowed && Math.abs(line.x - last.x) > INDENT * line.size;
  return isRow || below < 0 || below > GAP * leading || Math.abs(line.size - last.size) > 1 || isOut;
}

/** Joins words that were split at line ends, if the hyphen is soft or the joined word occurs elsewhere in the document. */
function joinSplitWords(text: string, pageWords: ReadonlySet<string>): string {
  return text.replace(/(\p{L}+)([-\u00ad‐])\n(\p{Ll}+)(\S*) ?/gu, (split, begin, hyphen, end, rest) => {
    const isWord = hyphen === "\u00ad" || pageWords.has(`${begin}${end}`.toLowerCase());
    return isWord ? `${begin}${end}${rest}\n` : split;
  });
}
