/** What is to be undone when a test file is done, or a program that uses these rigs ends: folders, processes. */
export const leftovers = new Set<() => void>();

/** Undoes everything, the newest first. */
export function undoLeftovers(): void {
  for (const undo of [...leftovers].reverse()) undo();
  leftovers.clear();
}

process.once("exit", undoLeftovers);
