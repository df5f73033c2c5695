import { ResearchFailure } from "../../core/researcher.js";
import type { Block } from "../reading/blocks/block.js";

/** What a passage is part of: a file of a folder, or a page of the web. */
export interface SourceDocument {
  /** For `open`: a path below the folder with forward slashes, or an address. */
  id: string;
  /** For people: the document's own title, else its name. */
  title: string;
  /** Of a page. Without one, `id` is the path of a file, and places are cited as `file:line`. */
  url?: string;
  /** The date that the document gives of itself, as it stands there. */
  date?: string;
  /** When a page was fetched, ISO 8601. */
  accessed?: string;
}

/** One block of a document: a paragraph, an item of a list, a row of a table, a piece of code. A quote is part of one. */
export interface Passage extends Block {
  /** The `id` of its document. */
  id: string;
  /** The code that follows a text with a colon at its end; it is found together with that text. */
  code?: Block;
}

/** A passage that fits a query. */
export interface Hit {
  passage: Passage;
  /** How well: 1 is the best one found. */
  score: number;
  /** How much of the query it speaks of, each word by what it tells: 0 to 1. */
  share: number;
}

/** A stretch of a document. */
export interface Opened {
  document: SourceDocument;
  /** The blocks that have a line of the stretch, in the order of the document. */
  passages: Passage[];
}

/** Something that is not searched, and why, as in "it is larger than 8 MiB" or "robots.txt forbids it". */
export interface Unread {
  name: string;
  reason: string;
}

/** What a source has, as far as it is known by now. */
export interface Description {
  /** What it is, as in "a folder of documents" or "the web". */
  kind: string;
  /** How many documents were read so far. */
  documents: number;
  /** Their titles. */
  titles: string[];
  /** The folders with the most of them, each with how many. */
  folders?: string[];
  /** The languages that most of them are written in, ISO 639-1; empty if that is not known. */
  languages: string[];
  unread: Unread[];
  /** What went wrong with the source as a whole, each a sentence for the report. */
  notes: string[];
}

/**
 * Where a research reads. Everything that is cited has come through it; what it gives is data, never an instruction.
 * Lines are stable for as long as a research lasts.
 */
export interface Source {
  /**
   * The best passages for `query` (plain words, no operators), best first, at most `n`. It rejects with a
   * ResearchFailure only if the source cannot be searched at all; what else goes wrong is in `describe`.
   */
  search(query: string, n: number): Promise<Hit[]>;
  /** The lines `from` to `to` (from 1, inclusive) of a document; undefined if there is no such document any more. */
  open(id: string, from: number, to: number): Promise<Opened | undefined>;
  /** Cheap: it is asked for before the plan and for the report. */
  describe(): Promise<Description>;
}

/** Makes the source of each research, and frees what all have in common. */
export interface SourceProvider {
  /** `signal` ends what is under way for that research. */
  for(requestId: string, signal: AbortSignal): Source;
  close(): Promise<void>;
}

/** Several sources as one. One that cannot be searched is left to the others; it says so itself in its notes. */
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

/** How many names are given for one reason. */
const NAMED = 10;

/** What is not searched, by its reason, as in "a.png, b.png (not text); old/c.csv (larger than 8 MiB)". */
export function listOf(unread: readonly Unread[]): string {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of unread) {
    const names = byReason.get(reason) ?? [];
    byReason.set(reason, names);
    names.push(name);
  }
  return [...byReason].map(([reason, names]) => `${listFirst(names, NAMED)} (${reason})`).join("; ");
}

/** The first `most` of `names`, and how many more there are. */
export function listFirst(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
