import type { Hit, Passage, Source } from "./source.js";

/** One table of a source file. */
export interface Table {
  file: string;
  header: string[];
  rows: { line: number; cells: string[] }[];
  /** The headings above it and the text right before it. */
  around: string;
}

/** The searchable text of a folder. Changed files are noticed at most once a second. */
export interface FolderSearch extends Source {
  /** As a Source does; only passages of `kind` if given. */
  search(query: string, limit: number, kind?: Passage["kind"]): Promise<Hit[]>;
  /** The tables that `query` finds, best first, at most `limit`. */
  tables(query: string, limit: number): Promise<Table[]>;
  /** What each of `terms` (as `words` gives them) tells: the rarer it is in the folder, the more. */
  weights(terms: readonly string[]): Promise<number[]>;
}
