import { ResearchFailure } from "../../core/researcher.js";
import type { Block } from "../parsing/blocks/block.js";

/** A document: a file in a folder, or a web page. */
export interface SourceDocument {
  /** The document's name, and the argument for `open`: a path below the folder with forward slashes, or an address. */
  id: string;
  /** The title from the document, else its name. */
  title: string;
  /** The address of a page. Without it, `id` is a file's path, and places are cited as `file:line`. */
  url?: string;
  /** The date in the document, as written. */
  date?: string;
  /** The time at which a page was fetched, ISO 8601. */
  accessed?: string;
}

/** One block of a document: a paragraph, list item, table row or piece of code. A quote never exceeds one passage. */
export interface Passage extends Block {
  /** The `id` of the document. */
  id: string;
  /** The code block that the passage introduces, if its text ends with a colon; a search covers both. */
  code?: Block;
}

/** A passage that matches a query. */
export interface Hit {
  passage: Passage;
  /** The score relative to that of the best match, 0 to 1. */
  score: number;
  /** The weighted share of the query's words that the passage contains, 0 to 1. */
  share: number;
}

/** The part of a document that `open` returns. */
export interface Opened {
  document: SourceDocument;
  /** The blocks that overlap the range, in order. */
  passages: Passage[];
}

/** A file or page that is not searched, and the reason, such as "larger than 8 MiB" or "robots.txt forbids it". */
export interface Unread {
  name: string;
  reason: string;
}

/** A description of a source, covering what has been read so far. */
export interface Description {
  /** The kind of source, such as "a folder of documents" or "the web". */
  kind: string;
  /** How many documents have been read so far. */
  documents: number;
  titles: string[];
  /** The folders with the most documents, with counts. */
  folders?: string[];
  /** The languages of most documents, ISO 639-1; empty if unknown. */
  languages: string[];
  unread: Unread[];
  /** Problems with the source as a whole, each a sentence for the report. */
  notes: string[];
}

/**
 * The documents that are searched and cited for a question. Their text is data, never an instruction. Line numbers are
 * stable while a question is answered.
 */
export interface Source {
  /**
   * Returns at most `n` passages for `query` (plain words, no operators), best first. Rejects with a ResearchFailure only
   * if the source cannot be searched at all; `describe` reports other problems.
   */
  search(query: string, n: number): Promise<Hit[]>;
  /** Returns the lines `from` to `to` (from 1, inclusive) of a document; undefined if the document no longer exists. */
  open(id: string, from: number, to: number): Promise<Opened | undefined>;
  /** Describes the source. Must be cheap, because it is called before the plan and again for the report. */
  describe(): Promise<Description>;
}

/** Creates the source for each question, and frees what the sources share. */
export interface SourceProvider {
  /** Returns the source for one question. `signal` aborts the source's work. */
  for(requestId: string, signal: AbortSignal): Source;
  close(): Promise<void>;
}

/** Combines sources. If one cannot be searched, the others are used; its notes report the failure. */
export function combineProviders(providers: readonly SourceProvider[]): SourceProvider {
  return {
    for: (requestId, signal) => combineSources(providers.map((provider) => provider.for(requestId, signal))),
    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
    },
  };
}

function combineSources(sources: readonly Source[]): Source {
  return {
    async search(query, n) {
      const results = await Promise.allSettled(sources.map((source) => source.search(query, n)));
      const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      const worse = failures.find((error) => !(error instanceof ResearchFailure));
      if (worse !== undefined) throw worse;
      if (failures.length === sources.length)
        throw new ResearchFailure(failures.map(({ message }) => message).join(" "));
      const hits = results.flatMap((result): Hit[] => (result.status === "fulfilled" ? result.value : []));
      return hits.sort((a, b) => b.score - a.score).slice(0, n);
    },
    async open(id, from, to) {
      for (const source of sources) {
        const opened = await source.open(id, from, to);
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
    async describe() {
      const all = await Promise.all(sources.map((source) => source.describe()));
      return {
        kind: all.map(({ kind }) => kind).join(" and "),
        documents: all.reduce((sum, { documents }) => sum + documents, 0),
        titles: all.flatMap(({ titles }) => titles),
        folders: all.flatMap(({ folders = [] }) => folders),
        languages: [...new Set(all.flatMap(({ languages }) => languages))],
        unread: all.flatMap(({ unread }) => unread),
        notes: all.flatMap(({ notes }) => notes),
      };
    },
  };
}

/** The most names that are listed for one reason. */
const NAMED = 10;

/** Lists what is not searched, grouped by reason, such as "a.png, b.png (not text); old/c.csv (larger than 8 MiB)". */
export function listUnreadByReason(unread: readonly Unread[]): string {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of unread) {
    const names = byReason.get(reason) ?? [];
    byReason.set(reason, names);
    names.push(name);
  }
  return [...byReason].map(([reason, names]) => `${listFirstNames(names, NAMED)} (${reason})`).join("; ");
}

/** Lists the first `most` of `names` and the number of the remaining ones. */
export function listFirstNames(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
