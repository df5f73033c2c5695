/** Returns the candidate with the smallest edit distance to `word`, the first of several; undefined without candidates. */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: computeEditDistance(word, candidate),
  }));
  return distances.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Computes the Levenshtein distance: each insertion, deletion or substitution of a character counts 1. */
function computeEditDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, char] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const substituted = (row[column - 1] ?? 0) + (to[column - 1] === char ? 0 : 1);
      next.push(Math.min(substituted, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
