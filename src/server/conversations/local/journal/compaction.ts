import type { promises as fs } from "node:fs";
import { type Entry, lineOf } from "./entries.js";
import type { Line } from "./journal.js";

/** Lines are written together up to this many bytes. */
const PIECE_BYTES = 1_048_576;

/** One line of a compacted journal: an entry, or a line of the old journal as it is. */
export type Kept = { entry: Entry } | { line: Line; moved: (line: Line) => void };

/** Where a line stands in the compacted journal, and whom to tell when that is the journal. */
interface Place {
  line: Line;
  moved: ((line: Line) => void) | undefined;
}

/** Writes the lines of a compacted journal to an empty file; `bytesOf` reads one of the old journal. */
export async function writeKept(
  handle: fs.FileHandle,
  lines: Iterable<Kept>,
  bytesOf: (line: Line) => Promise<Buffer>,
): Promise<Place[]> {
  const places: Place[] = [];
  let pieces: Buffer[] = [];
  let [offset, written] = [0, 0];
  const flush = async () => {
    if (pieces.length > 0) await handle.appendFile(Buffer.concat(pieces));
    pieces = [];
    written = offset;
  };
  for (const kept of lines) {
    const bytes = "entry" in kept ? lineOf(kept.entry) : await bytesOf(kept.line);
    const moved = "moved" in kept ? kept.moved : undefined;
    places.push({ moved, line: { offset, length: bytes.length } });
    pieces.push(bytes);
    offset += bytes.length;
    if (offset - written >= PIECE_BYTES) await flush();
  }
  await flush();
  return places;
}
