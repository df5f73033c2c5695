import type { Journal } from "./journal/journal.js";
import type { LocalState, Row } from "./local-state.js";
import type { Outputs } from "./outputs.js";

/** How many are moved at a time: files that are synced side by side share the disk's work. */
const AT_A_TIME = 16;

/**
 * Moves outputs that version 0.1 wrote into the journal to files of their own, a few at a time, while the service
 * runs. Each one is readable at every moment; a crash leaves those that are still to be moved.
 */
export async function carryOver(
  { rows }: LocalState,
  journal: Journal,
  outputs: Outputs,
  signal: AbortSignal,
): Promise<void> {
  const inline = [...rows.values()].filter(
    ({ status, line }) => status === "COMPLETED" && line !== undefined,
  );
  for (let from = 0; from < inline.length && !signal.aborted; from += AT_A_TIME) {
    await Promise.all(inline.slice(from, from + AT_A_TIME).map((row) => carryOverOne(row, journal, outputs)));
  }
}

async function carryOverOne(row: Row, journal: Journal, outputs: Outputs): Promise<void> {
  if (row.line === undefined) return;
  const entry = await journal.read(row.line);
  if (!("output" in entry)) return;
  await outputs.write(row.requestId, JSON.stringify(entry.output));
  // A compaction may have moved the line meanwhile.
  const { line } = row;
  delete row.line;
  if (line !== undefined) journal.release(line, line.length);
}
