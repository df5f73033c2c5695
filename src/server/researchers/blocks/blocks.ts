import type { Block } from "./block.js";
import { codeBlocks } from "./code-blocks.js";
import { csvBlocks } from "./csv-blocks.js";
import { fileType } from "./file-type.js";
import { htmlBlocks } from "./html-blocks.js";
import { textBlocks } from "./text-blocks.js";

/** Cuts the text of the file `name` into blocks, in the order of the file. */
export function blocksOf(name: string, text: string): Block[] {
  const type = fileType(name, text);
  switch (type) {
    case "html":
      return htmlBlocks(text);
    case "csv":
      return csvBlocks(text);
    case "code":
      return codeBlocks(text);
    default:
      return textBlocks(text, type);
  }
}
