import * as fs from "node:fs";
import { getErrorCode, openRegular } from "./file-access.js";

/** The longest record, in bytes. A prompt and a schema of 1 MiB each fit, even if every byte is escaped as six. */
export const MAX_RECORD_BYTES = 16 << 20;

/** Bytes per read. One read shows a screenful of the newest lines; a few hundred reads search 100,000 lines. */
const CHUNK = 1 << 18;
const LINE_BREAK = 0x0a;

/** Replaces the end of a line over MAX_RECORD_BYTES, so that the line is not valid JSON. */
const CUT_OFF = Buffer.from("\u{0}");

/**
 * Yields the non-blank lines of a file from the last to the first, in memory that does not grow with the file. Cuts off a
 * line after MAX_RECORD_BYTES. With `needle`, yields only lines that contain it, without splitting the chunks that do not.
 * Yields nothing if the file does not exist. Throws UnsuitableFileError or a system error.
 */
export function* readLinesBackward(path: string, needle?: string): Generator<Buffer> {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return;
    throw error;
  }
  try {
    // The parts of a line whose beginning is in an earlier chunk, the last part first.
    let rest: Buffer[] = [];
    let restBytes = 0;
    for (let end = fs.fstatSync(fd).size; end > 0; ) {
      const start = Math.max(0, end - CHUNK);
      const chunk = Buffer.allocUnsafe(end - start);
      const text = chunk.subarray(0, fs.readSync(fd, chunk, 0, chunk.length, start));
      end = start;
      const cut = start === 0 ? -1 : text.indexOf(LINE_BREAK);
      if (start > 0 && cut < 0) {
        restBytes += text.length;
        if (restBytes > MAX_RECORD_BYTES) rest = [CUT_OFF];
        else rest.push(text);
        continue;
      }
      const body = Buffer.concat([text.subarray(cut + 1), ...rest.reverse()]);
      rest = start === 0 ? [] : [text.subarray(0, cut)];
      restBytes = Math.max(0, cut);
      if (needle === undefined || body.includes(needle)) yield* splitLinesBackward(body, needle);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function* splitLinesBackward(body: Buffer, needle: string | undefined): Generator<Buffer> {
  for (let end = body.length; end > 0; ) {
    const cut = body.lastIndexOf(LINE_BREAK, end - 1);
    const line = body.subarray(cut + 1, end);
    if (line.length > 0 && (needle === undefined || line.includes(needle))) yield line;
    end = cut;
  }
}
