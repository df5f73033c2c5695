import { posix } from "node:path";

const MOST_FILES = 12;

/** Folders that are still wider, with how wide they may be until they are sorted. */
const WIDER: Readonly<Record<string, number>> = {
  "src/cli/batch": 19,
};

/** Folders with more files than are taken in at a glance, as `folder: what`. Folders inside do not count. */
export function wideFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([folder, count]) => count > (WIDER[folder] ?? MOST_FILES))
    .map(([folder, count]) => `${folder}: has ${count} files`);
}
