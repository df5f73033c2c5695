import { type Block, measureMemory } from "../blocks/block.js";
import { readHtmlBlocks } from "../blocks/html-blocks.js";
import { readPageMetadata } from "../blocks/page-metadata.js";
import { hasNearlyNoText, readBlocks } from "../blocks/read-blocks.js";
import { decodeText } from "../files/read-file.js";
import { parseRobotsRules } from "../robots-txt.js";
import {
  type CutDocument,
  type DocumentTask,
  MAX_PAGE_TEXT,
  MAX_PDF_TEXT,
  type PageKind,
  PDF,
  type ReadDocument,
} from "./document-reader.js";

/** Splits a document into blocks. Runs nothing in it: neither scripts of a page nor those of a PDF. */
export async function splitDocument(task: DocumentTask): Promise<CutDocument> {
  const { name, bytes, page } = task;
  try {
    if (task.isRobots) return { blocks: [], rules: parseRobotsRules(Buffer.from(bytes).toString("utf8")) };
    if (page ? page.type === PDF : /\.pdf$/i.test(name)) {
      const { readPdfBlocks } = await import("./pdf.js");
      const most = task.wantsText ? MAX_PDF_TEXT : MAX_PAGE_TEXT;
      return page ? limitPageText(await readPdfBlocks(bytes, most), most) : await readPdfBlocks(bytes);
    }
    if (page !== undefined) return splitPage(task, page);
    if (/\.docx$/i.test(name)) {
      const { convertDocxToHtml } = await import("./docx.js");
      return { blocks: readHtmlBlocks(convertDocxToHtml(bytes)) };
    }
    return splitTextFile(name, bytes);
  } catch (error) {
    return { reason: `it cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}

/** Splits a text file into blocks. Refuses a file whose blocks take more memory than MAX_FILE_TEXT. */
export function splitTextFile(name: string, bytes: Uint8Array): CutDocument {
  const decoded = decodeText(bytes);
  if ("reason" in decoded) return decoded;
  const blocks = readBlocks(name, decoded.text);
  if (measureMemory(blocks) > MAX_FILE_TEXT)
    return { reason: `its blocks take more than ${MAX_FILE_TEXT / 1_048_576} MiB` };
  return { blocks, isBare: hasNearlyNoText(name, decoded.text, blocks) };
}

function splitPage({ name, bytes, wantsText }: DocumentTask, { type, charset }: PageKind): CutDocument {
  const decoded = decodeText(bytes, charset);
  if ("reason" in decoded) return decoded;
  const ending = ENDINGS[type];
  const file = ending === undefined ? name : `page.${ending}`;
  const blocks = readBlocks(file, decoded.text);
  const isBare = hasNearlyNoText(file, decoded.text, blocks);
  const { text = decoded.text, ...about } =
    ending === "html" ? readPageMetadata(decoded.text, wantsText) : {};
  return limitPageText({
    ...{ ...about, ...(isBare && { isBare }), blocks },
    ...(wantsText && { text: text.slice(0, 2 * MAX_PAGE_TEXT) }),
  });
}

/** The most memory for the blocks of one text file, in bytes. */
const MAX_FILE_TEXT = 64 * 1_048_576;

const ENDINGS: Readonly<Record<string, string>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "md",
  "text/csv": "csv",
};

/** Renumbers the lines, because a page may be one long line, and cuts the page at the size limit. */
function limitPageText({ blocks, ...about }: ReadDocument, most = MAX_PAGE_TEXT): ReadDocument {
  const kept: Block[] = [];
  let line = 1;
  let size = 0;
  for (const block of blocks) {
    size += Buffer.byteLength(JSON.stringify(block));
    if (size > most) return { ...about, blocks: kept, isCut: true };
    kept.push({ ...block, line });
    line += block.lines.length + 1;
  }
  return { ...about, blocks: kept };
}
