import type { Sources } from "../../src/server/researchers/model/facts.js";
import type { Passage } from "../../src/server/researchers/sources/search.js";

/** An index over texts in memory: a passage for each paragraph, the ones with the most words of the query first. */
export function memorySources(files: Record<string, string>): Sources & { close(): Promise<void> } {
  const passages = Object.entries(files).flatMap(([file, text]) => paragraphs(file, text));
  return {
    async search(query, limit) {
      const words = wordsOf(query);
      const scored = passages.map((passage) => ({
        passage,
        score: shared(words, wordsOf(passage.lines.join(" "))),
      }));
      const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
      return found.slice(0, limit);
    },
    read: async (file, from, to) => files[file]?.split("\n").slice(from - 1, to),
    close: async () => {},
  };
}

function paragraphs(file: string, text: string): Passage[] {
  const found: Passage[] = [];
  let open: Passage | undefined;
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") open = undefined;
    else if (open !== undefined) open.lines.push(line);
    else {
      open = { file, line: index + 1, lines: [line], heading: "", kind: "prose" };
      found.push(open);
    }
  });
  return found;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((word) => b.has(word)).length;
}
