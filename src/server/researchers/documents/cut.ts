import { aboutPage } from "../blocks/about-page.js";
import type { Block } from "../blocks/block.js";
import { blocksOf } from "../blocks/blocks.js";
import { htmlBlocks } from "../blocks/html-blocks.js";
import { textBlocks } from "../blocks/text-blocks.js";
import { decodeText } from "../files/read-file.js";
import { type CutDocument, type DocumentTask, MAX_PAGE_TEXT, type ReadDocument } from "./document.js";

/** Reads a document. Nothing in it is ever run: not the scripts of a page, nor the ones of a PDF. */
export async function cutDocument({ name, bytes, page }: DocumentTask): Promise<CutDocument> {
  try {
    if (page !== undefined) return cutPage(name, bytes, page);
    if (/\.docx$/i.test(name)) {
      const { docxAsHtml } = await import("./docx.js");
      return { blocks: htmlBlocks(docxAsHtml(bytes)) };
    }
    return { blocks: await pdfBlocks(bytes) };
  } catch (error) {
    return { reason: `it cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}

function cutPage(
  name: string,
  bytes: Uint8Array,
  { type, charset }: NonNullable<DocumentTask["page"]>,
): CutDocument {
  const decoded = decodeText(bytes, charset);
  if ("reason" in decoded) return decoded;
  const ending = ENDINGS[type];
  const blocks = blocksOf(ending === undefined ? name : `page.${ending}`, decoded.text);
  const about = ending === "html" ? aboutPage(decoded.text) : {};
  return withinLimit({ ...about, blocks });
}

const ENDINGS: Readonly<Record<string, string>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "md",
  "text/csv": "csv",
};

/** Blocks with lines of their own, since a page may stand on one line of its file, and no more than a page may have. */
function withinLimit({ blocks, ...about }: ReadDocument): ReadDocument {
  const kept: Block[] = [];
  let line = 1;
  let size = 0;
  for (const block of blocks) {
    size += Buffer.byteLength(JSON.stringify(block));
    if (size > MAX_PAGE_TEXT) break;
    kept.push({ ...block, line });
    line += block.lines.length + 1;
  }
  return { ...about, blocks: kept };
}

/** The blocks of each page under its number. A line is one of the text, counted from the first page on. */
async function pdfBlocks(bytes: Uint8Array): Promise<Block[]> {
  const { extractText, getDocumentProxy } = await import("unpdf").catch(() => {
    throw new Error("a PDF needs the package unpdf: npm install -g unpdf");
  });
  const document = await getDocumentProxy(bytes, { isEvalSupported: false, useSystemFonts: false });
  const { text: pages } = await extractText(document, { mergePages: false });
  const blocks: Block[] = [];
  let above = 0;
  pages.forEach((text, index) => {
    for (const block of textBlocks(text, "text")) {
      const heading = [`page ${index + 1}`, block.heading].filter(Boolean).join(" / ");
      blocks.push({ ...block, line: above + block.line, heading });
    }
    above += text.split("\n").length;
  });
  if (blocks.length === 0) throw new Error("it has no text, only pictures");
  return blocks;
}
