import * as fs from "node:fs";
import type { Readable } from "node:stream";
import { createLocalError } from "../core/files/local-error.js";
import { UsageError } from "./errors.js";

/** Maximum size of a prompt or schema, in bytes. */
export const MAX_INPUT_BYTES = 1 << 20;
/** Maximum size of a key file, in bytes, so that reading `/dev/zero` ends. */
export const MAX_KEY_BYTES = 65_536;
const CHUNK_BYTES = 65_536;

/** Reads a small file as UTF-8 text, synchronously. Throws LocalError, or UsageError if it is larger than `maxBytes`. */
export function readSmallFile(path: string, what: string, maxBytes: number): string {
  return decodeUtf8(readSync(path, what, maxBytes), what);
}

function readSync(path: string, what: string, maxBytes: number): Buffer {
  try {
    const fd = openNonBlocking(path);
    try {
      return readToEnd(fd, what, maxBytes);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw createUnreadableError(`${what} ${path} could not be read`, error);
  }
}

/** Reads a path or a stream as UTF-8 text; waits for the end of a FIFO or a terminal. Rejects with `signal.reason` after an abort. */
export async function readText(
  source: string | Readable,
  what: string,
  signal: AbortSignal,
  maxBytes = MAX_INPUT_BYTES,
): Promise<string> {
  return decodeUtf8(await readBytes(source, what, signal, maxBytes), what);
}

/** Reads a path or a stream as bytes, as `readText` does. */
export async function readBytes(
  source: string | Readable,
  what: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Buffer> {
  const { addAbortSignal } = await import("node:stream");
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream = typeof source === "string" ? await openStream(source) : source;
    if (!stream) return readSync(String(source), what, maxBytes);
    for await (const chunk of addAbortSignal(signal, stream)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw createTooLargeError(what, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    const from =
      typeof source === "string"
        ? `${what} ${source} could not be read`
        : `${what} could not be read from stdin`;
    throw createUnreadableError(from, error);
  }
  return Buffer.concat(chunks);
}

/** Returns the text. Throws UsageError if it is larger than `maxBytes`. */
export function checkTextSize(text: string, what: string, maxBytes = MAX_INPUT_BYTES): string {
  if (Buffer.byteLength(text) > maxBytes) throw createTooLargeError(what, maxBytes);
  return text;
}

/** Opens a FIFO or a terminal as a stream; undefined for a file, and for a device such as /dev/zero, whose reads never wait. */
async function openStream(path: string): Promise<Readable | undefined> {
  const { Socket } = await import("node:net");
  const { isatty, ReadStream } = await import("node:tty");
  const fd = openNonBlocking(path);
  // Do not open a FIFO again, because it reports its end only to a reader that has seen its writer.
  if (fs.fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new ReadStream(fd);
  fs.closeSync(fd);
  return undefined;
}

/** Reads in chunks, because the size of a device is not known in advance. */
function readToEnd(fd: number, what: string, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = fs.readSync(fd, chunk, 0, chunk.length, null);
    if (length === 0) return Buffer.concat(chunks);
    size += length;
    if (size > maxBytes) throw createTooLargeError(what, maxBytes);
    chunks.push(chunk.subarray(0, length));
  }
}

/** Opens a file without blocking, because an ordinary open of a FIFO waits for its writer and ignores every signal. */
function openNonBlocking(path: string): number {
  return fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
}

function createUnreadableError(failed: string, error: unknown): Error {
  return error instanceof UsageError ? error : createLocalError(failed, error);
}

function createTooLargeError(what: string, maxBytes: number): UsageError {
  const size = maxBytes < 1 << 20 ? `${maxBytes >> 10} KiB` : `${maxBytes >> 20} MiB`;
  return new UsageError(`${what} is over ${size}`, "Shorten it, or check that it is the file you meant.");
}

function decodeUtf8(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${what} is not UTF-8 text`, "Convert it first, for example with iconv.");
  }
}
