import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../core/clock.js";
import { hashSha256, LocalError } from "../core/files/local-error.js";
import type { ContextFile } from "../core/protocol/conversation.js";
import { joinBlocks } from "../reader/parsing/blocks/block.js";
import { detectFileType } from "../reader/parsing/blocks/file-type.js";
import { NEARLY_NO_TEXT } from "../reader/parsing/blocks/read-blocks.js";
import { createDocumentReader } from "../reader/parsing/documents/document-reader.js";
import { decodeText, getSizeLimit, isArchive } from "../reader/parsing/files/read-file.js";
import { UsageError } from "./errors.js";
import { readBytes } from "./read-text.js";

/** Maximum size of all context texts of one question, in bytes of UTF-8 (contract §13). */
const MAX_CONTEXT_BYTES = 900 << 10;

/** Reads the context files of a question. Rejects with UsageError if they are too large, or LocalError for a file without text. */
export async function extractContextFiles(
  sources: readonly (string | Readable)[],
  clock: Clock,
  signal: AbortSignal,
): Promise<ContextFile[]> {
  const files: ContextFile[] = [];
  let size = 0;
  for (const source of sources) {
    const name = typeof source === "string" ? basename(source).replace(/\s+/g, " ") : "stdin";
    const bytes = await readBytes(source, "the context", signal, getSizeLimit(name));
    const text = await extractText(name, bytes, clock, signal);
    if (typeof text !== "string" || text.trim() === "")
      throw new LocalError(`the context ${name} gives no text: ${Object(text).reason ?? "it is blank"}`);
    files.push({ name, chars: Array.from(text).length, sha256: hashSha256(text), text });
    size += Buffer.byteLength(text);
  }
  if (size <= MAX_CONTEXT_BYTES) return files;
  throw new UsageError(`the context is over 900 KiB: ${Math.ceil(size / 1_024)} KiB of text`, "Shorten it.");
}

/** Extracts the text of a page, Word document or PDF; returns any other text unchanged, or the reason why there is no text. */
async function extractText(name: string, bytes: Buffer, clock: Clock, signal: AbortSignal) {
  // The name of a pipe does not show the format.
  const file = bytes.toString("latin1", 0, 5) === "%PDF-" ? "context.pdf" : name;
  const decoded = isArchive(file) ? undefined : decodeText(bytes);
  if (decoded && "reason" in decoded) return decoded;
  if (decoded && detectFileType(file, decoded.text) !== "html") return decoded.text;
  const document = await createDocumentReader(clock, 1)({ name: file, bytes }, signal);
  if ("reason" in document) return document;
  return document.isBare ? { reason: NEARLY_NO_TEXT } : joinBlocks(document.blocks).trim();
}
