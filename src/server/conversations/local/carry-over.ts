import type { Journal } from "./journal/journal.js";
import type { LocalState } from "./local-state.js";
import type { Outputs } from "./outputs.js";

/**
 * Moves outputs that version 0.1 wrote into the journal to files of their own, one after another, while the service
 * runs. Each one is readable at every moment; a crash leaves those that are still to be moved.
 */
export async function carryOver(
  { rows }: LocalState,
  journal: Journal,
  outputs: Outputs,
  signal: AbortSignal,
): Promise<void> {
  for (const row of rows.values()) {
    if (signal.aborted) return;
    if (row.status !== "COMPLETED" || row.line === undefined) continue;
    const entry = await journal.read(row.line);
    if (!("output" in entry)) continue;
    await outputs.write(row.requestId, JSON.stringify(entry.output));
    const line = row.line;
    delete row.line;
    if (line !== undefined) journal.release(line, line.length);
  }
}
