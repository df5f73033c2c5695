import * as fs from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { type Clock, withDeadline } from "../clock.js";
import { LocalError, localError } from "../store/errors.js";
import type { Environment } from "../store/folders.js";
import { UsageError } from "./errors.js";

/** The most that is read of a prompt or a schema, in bytes. */
export const MAX_INPUT_BYTES = 1 << 20;
/** A key file of any service is a line; this keeps `/dev/zero` out. */
const KEY_FILE_BYTES = 65_536;
const CHUNK_BYTES = 65_536;

/** How long a key is waited for that a program writes, as in `RESEARCH_API_KEY_FILE=<(pass show research)`. */
const KEY_WAIT_MS = 10_000;

/** Reads a small file as UTF-8 text, at once. Throws LocalError, or UsageError if it is over `maxBytes`. */
export function readSmallFile(path: string, what: string, maxBytes: number): string {
  try {
    const fd = openNow(path);
    try {
      return decode(readToEnd(fd, what, maxBytes), what);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw unreadable(`${what} ${path} could not be read`, error);
  }
}

/** The same; a FIFO or a terminal is read to its end, or until `signal` is aborted: then its reason is thrown. */
export async function readTextFile(
  path: string,
  what: string,
  signal: AbortSignal,
  maxBytes = MAX_INPUT_BYTES,
): Promise<string> {
  const failed = `${what} ${path} could not be read`;
  const stream = await streamOf(path).catch((error: unknown) => {
    throw localError(failed, error);
  });
  return stream ? readText(stream, what, failed, signal, maxBytes) : readSmallFile(path, what, maxBytes);
}

/** Reads a stream to its end as UTF-8 text. Throws `signal.reason` when that is aborted. */
export function readTextStream(
  stream: Readable,
  what: string,
  signal: AbortSignal,
  maxBytes = MAX_INPUT_BYTES,
): Promise<string> {
  return readText(stream, what, `${what} could not be read from stdin`, signal, maxBytes);
}

/** Throws UsageError for a text over the limit. */
export function checkSize(text: string, what: string, maxBytes = MAX_INPUT_BYTES): string {
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(what, maxBytes);
  return text;
}

/** Gives the key in a file: its text without the white space around it. Throws LocalError or UsageError. */
export type ReadKey = (path: string) => string;

export const readKeyFile: ReadKey = (path) => readSmallFile(path, "the key file", KEY_FILE_BYTES).trim();

/** How the key file is read. A FIFO is read now, and its error thrown when used. Rejects with `signal.reason`. */
export async function keyReader(env: Environment, clock: Clock, signal: AbortSignal): Promise<ReadKey> {
  const path = env.RESEARCH_API_KEY_FILE;
  if (!path || env.RESEARCH_API_KEY || !isFifo(path)) return readKeyFile;
  const read = await waitForKey(path, clock, signal).then(
    (key) => () => key,
    (error: unknown) => () => {
      throw error;
    },
  );
  signal.throwIfAborted();
  return read;
}

/** Reads a key from a file, a FIFO as well, for at most ten seconds. Rejects with LocalError, UsageError or `signal.reason`. */
export async function waitForKey(path: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const why = `the key file ${path} could not be read: nothing came within ${KEY_WAIT_MS / 1_000} s`;
  const read = (both: AbortSignal) => readTextFile(path, "the key file", both, KEY_FILE_BYTES);
  return (await withDeadline(clock, KEY_WAIT_MS, signal, new LocalError(why), read)).trim();
}

/** False for a path that cannot be looked at: reading it says why, if the key is asked for. */
function isFifo(path: string): boolean {
  try {
    return fs.statSync(path).isFIFO();
  } catch {
    return false;
  }
}

/** A stream of what has no end yet; undefined for a file, and for a device such as /dev/zero, which never makes one wait. */
async function streamOf(path: string): Promise<Readable | undefined> {
  const { Socket } = await import("node:net");
  const { isatty, ReadStream } = await import("node:tty");
  const fd = openNow(path);
  // Not opened once more: a FIFO reports its end to a reader only if that reader has seen its writer.
  if (fs.fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new ReadStream(fd);
  fs.closeSync(fd);
  return undefined;
}

async function readText(
  stream: Readable,
  what: string,
  failed: string,
  signal: AbortSignal,
  maxBytes: number,
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
    throw unreadable(failed, error);
  }
  return decode(Buffer.concat(chunks), what);
}

/** The size of a device is not known before its end. */
function readToEnd(fd: number, what: string, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = fs.readSync(fd, chunk, 0, chunk.length, null);
    if (length === 0) return Buffer.concat(chunks);
    size += length;
    if (size > maxBytes) throw tooLarge(what, maxBytes);
    chunks.push(chunk.subarray(0, length));
  }
}

/** A plain open of a FIFO waits for its writer, deaf to every signal. */
function openNow(path: string): number {
  return fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
}

function unreadable(failed: string, error: unknown): Error {
  return error instanceof UsageError ? error : localError(failed, error);
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
