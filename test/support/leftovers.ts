/** What is to be undone when a test file is done, or a program that uses these rigs ends: folders, processes. */
export const leftovers = new Set<() => unknown>();

/** Undoes everything, the newest first. */
export async function undoLeftovers(): Promise<void> {
  for (const undo of [...leftovers].reverse()) await undo();
  leftovers.clear();
}

process.once("exit", () => {
  for (const undo of [...leftovers].reverse()) undo();
});
