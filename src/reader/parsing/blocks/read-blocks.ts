import type { Block } from "./block.js";
import { readCodeBlocks } from "./code-blocks.js";
import { readCsvBlocks } from "./csv-blocks.js";
import { detectFileType } from "./file-type.js";
import { readHtmlBlocks } from "./html-blocks.js";
import { measurePageText } from "./html-elements.js";
import { readTextBlocks } from "./text-blocks.js";

/** Splits the text of the file `name` into blocks, in order. */
export function readBlocks(name: string, text: string): Block[] {
  const type = detectFileType(name, text);
  if (type === "html") return readHtmlBlocks(text);
  if (type === "markdown" || type === "text") return readTextBlocks(text, type);
  return (type === "csv" ? readCsvBlocks(text) : undefined) ?? readCodeBlocks(text);
}

/** Why a file or page is reported for which `hasNearlyNoText` is true. */
export const NEARLY_NO_TEXT = "nearly no text was found in it";

/** Returns whether `blocks` contain less than a tenth of the file's text, because it was misread or is data. */
export function hasNearlyNoText(name: string, text: string, blocks: readonly Block[]): boolean {
  if (blocks.length === 0) return text.trim() !== "";
  let length = 0;
  let above = "";
  for (const { lines, heading } of blocks) {
    for (const line of lines) length += line.trim().length;
    if (heading !== above) length += heading.length;
    above = heading;
  }
  const isHtml = detectFileType(name, text) === "html";
  return (
    length * 10 < text.length && length * 10 < (isHtml ? measurePageText(text).size : text.trim().length)
  );
}
