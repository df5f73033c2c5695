/** A part of a file, as the index of the sources gives it. */
export interface Passage {
  /** Path below the sources folder, with forward slashes. */
  file: string;
  /** Number of its first line, from 1. */
  line: number;
  /** One entry for each line of the file from `line` on, as it reads. */
  lines: string[];
  /** The headings above it, outermost first; empty if there is none. */
  heading: string;
  kind: "prose" | "table" | "code";
}

/** The index of the sources. */
export interface SourceSearch {
  /** The best passages for `query` (plain words), best first, at most `limit`. */
  search(query: string, limit: number): Promise<{ passage: Passage }[]>;
  /** The lines `from` to `to` (from 1, inclusive, clipped to the file) as they read; undefined: no such file. */
  read(file: string, from: number, to: number): Promise<string[] | undefined>;
}
