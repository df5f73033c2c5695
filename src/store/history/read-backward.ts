import * as fs from "node:fs";
import { systemCode } from "../errors.js";

/** Bytes read at a time: a screenful of the newest lines in one read, a search of 100,000 in a few hundred. */
const CHUNK = 1 << 18;
const LINE_BREAK = 0x0a;

/**
 * The lines of a file from the last to the first, blank ones left out, in memory that does not grow with the
 * file. With `needle`, only lines that contain it; those are found without looking at each line. Nothing where
 * there is no such file.
 */
export function* linesBackward(path: string, needle?: string): Generator<Buffer> {
  let fd: number;
  try {
    fd = fs.openSync(path, "r");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let end = fs.fstatSync(fd).size; end > 0; ) {
      const start = Math.max(0, end - CHUNK);
      const chunk = Buffer.allocUnsafe(end - start);
      const read = fs.readSync(fd, chunk, 0, chunk.length, start);
      const text = Buffer.concat([chunk.subarray(0, read), rest]);
      end = start;
      // What stands before the first line break belongs to a line that begins in an earlier chunk.
      const cut = start === 0 ? -1 : text.indexOf(LINE_BREAK);
      if (start > 0 && cut < 0) {
        rest = text;
        continue;
      }
      rest = start === 0 ? Buffer.alloc(0) : text.subarray(0, cut);
      const body = text.subarray(cut + 1);
      if (needle === undefined || body.includes(needle)) yield* splitBackward(body, needle);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function* splitBackward(body: Buffer, needle: string | undefined): Generator<Buffer> {
  for (let end = body.length; end > 0; ) {
    const cut = body.lastIndexOf(LINE_BREAK, end - 1);
    const line = body.subarray(cut + 1, end);
    if (line.length > 0 && (needle === undefined || line.includes(needle))) yield line;
    end = cut;
  }
}
