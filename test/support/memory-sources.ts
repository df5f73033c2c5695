import { readBlocks } from "../../src/reader/parsing/blocks/read-blocks.js";
import type { Passage, SourceProvider } from "../../src/reader/searching/source.js";

/** A source of texts in memory: the blocks with the most words of the query first. */
export function memorySources(files: Record<string, string>): SourceProvider {
  const passages = Object.entries(files).flatMap(([id, text]) =>
    readBlocks(id, text).map(
      ({ line, lines, heading, kind, header }): Passage => ({
        id,
        line,
        lines,
        heading,
        kind,
        ...(header && { header }),
      }),
    ),
  );
  return {
    for: () => ({
      async search(query, n) {
        const words = wordsOf(query);
        const scored = passages.map((passage) => ({
          passage,
          score: shared(words, wordsOf(`${passage.heading} ${passage.lines.join(" ")}`)),
          share: 1,
        }));
        const matches = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
        return matches.slice(0, n);
      },
      open: async (id, from, to) => ({
        document: { id, title: id },
        passages: passages.filter(
          (one) => one.id === id && one.line <= to && one.line + one.lines.length > from,
        ),
      }),
      describe: async () => ({
        kind: "a folder of documents",
        documents: Object.keys(files).length,
        titles: Object.keys(files),
        languages: ["en"],
        unread: [],
        notes: [],
      }),
    }),
    close: async () => {},
  };
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((word) => b.has(word)).length;
}
