/** A stretch of a source file that belongs together: a paragraph, a list item, a row of a table, a block of code. */
export interface Passage {
  /** Path below the sources folder, with forward slashes. */
  file: string;
  /** Number of its first line, from 1. */
  line: number;
  /** One entry for each line of the file from `line` on, as it reads: HTML without tags, everything else as it is. */
  lines: string[];
  /** The headings above it, outermost first, joined by " / "; empty if there are none. */
  heading: string;
  /** What a file of code says in a comment, and a block of code in a document, are code too. */
  kind: "prose" | "table" | "code";
  /** The titles of the columns, if this is a row of a table that has them. */
  header?: string[];
  /** The text right before the table that this is a row of. */
  caption?: string;
}

/** A passage that fits a query, with how well: 1 is the best one found. */
export interface Hit {
  passage: Passage;
  score: number;
}

/** One table of a source file. */
export interface Table {
  file: string;
  header: string[];
  rows: { line: number; cells: string[] }[];
  /** The headings above it and the text right before it. */
  around: string;
}

/** How much of the folder the index holds. */
export interface SourceSummary {
  /** How many files were read. */
  files: number;
  /** Why not all files were read, as in "stopped at 64 MiB"; undefined if they were. */
  stopped?: string;
  /** The names of files that are too large to be read. */
  skipped: string[];
}

/** The searchable text of a folder. Changed files are noticed at most once a second. */
export interface SourceSearch {
  /** The best passages for `query` (plain words, no operators), best first, at most `limit`; only those of `kind` if given. */
  search(query: string, limit: number, kind?: Passage["kind"]): Promise<Hit[]>;
  /** The tables that `query` finds, best first, at most `limit`. */
  tables(query: string, limit: number): Promise<Table[]>;
  /** What each of `terms` (as `words` gives them) tells: the rarer it is in the folder, the more. */
  weights(terms: readonly string[]): Promise<number[]>;
  /** The lines `from` to `to` (from 1, inclusive, cut at the file's end) as they read; undefined for no such source. */
  read(file: string, from: number, to: number): Promise<string[] | undefined>;
  summary(): Promise<SourceSummary>;
}
