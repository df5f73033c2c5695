import * as fs from "node:fs";
import { addAbortSignal } from "node:stream";
import { inWords, LocalError } from "../../store/errors.js";
import { UsageError } from "../errors.js";

/** The most that is read of a prompt or a schema, in bytes. */
export const MAX_INPUT_BYTES = 1 << 20;

/** Reads a file as UTF-8 text. Throws LocalError where that fails, UsageError where it is over 1 MiB. */
export function readTextFile(path: string, what: string, maxBytes = MAX_INPUT_BYTES): string {
  const chunks: Buffer[] = [];
  try {
    const fd = fs.openSync(path, "r");
    try {
      // Read in pieces: the size of a device or a pipe is not known before its end, and may have none.
      for (let size = 0; ; ) {
        const chunk = Buffer.allocUnsafe(65_536);
        const read = fs.readSync(fd, chunk, 0, chunk.length, null);
        if (read === 0) break;
        size += read;
        if (size > maxBytes) throw tooLarge(what, maxBytes);
        chunks.push(chunk.subarray(0, read));
      }
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new LocalError(`${what} ${path} could not be read: ${inWords(error)}`, { cause: error });
  }
  return decode(Buffer.concat(chunks), what);
}

/** Reads a stream to its end as UTF-8 text. Throws `signal.reason` when that is aborted. */
export async function readTextStream(
  stream: NodeJS.ReadStream,
  what: string,
  signal: AbortSignal,
  maxBytes = MAX_INPUT_BYTES,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(what, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    throw new LocalError(`${what} could not be read from stdin: ${inWords(error)}`, { cause: error });
  }
  return decode(Buffer.concat(chunks), what);
}

/** Throws UsageError for a text over the limit. */
export function checkSize(text: string, what: string, maxBytes = MAX_INPUT_BYTES): string {
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(what, maxBytes);
  return text;
}

function tooLarge(what: string, maxBytes: number): UsageError {
  const size = maxBytes < 1 << 20 ? `${maxBytes >> 10} KiB` : `${maxBytes >> 20} MiB`;
  return new UsageError(`${what} is over ${size}`, "Shorten it, or check that it is the file you meant.");
}

function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${what} is not UTF-8 text`, "Convert it first, for example with iconv.");
  }
}
