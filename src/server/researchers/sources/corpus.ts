import MiniSearch from "minisearch";
import { findSources, readText, type SourceFile } from "./files.js";
import { type Passage, passagesOf } from "./passage.js";
import { words } from "./words.js";

/** A passage that fits a question, with how well: 1 is the best one found. */
export interface Hit {
  passage: Passage;
  score: number;
}

/** Longer questions are cut to this many different words; more do not make an answer better, only slower. */
const MAX_QUERY_WORDS = 64;
/** Folders are looked through again after this long, ms. */
const FRESH_MS = 1_000;

/** The passages of a folder, searchable; kept up to date with its files. */
export class Corpus {
  readonly #index = new MiniSearch<{ id: number; text: string; heading: string; name: string }>({
    fields: ["text", "heading", "name"],
    tokenize: words,
    processTerm: (term) => term,
    searchOptions: { tokenize: words, boost: { text: 2, heading: 1.5, name: 0.5 } },
  });
  readonly #passages = new Map<number, Passage>();
  readonly #files = new Map<string, { version: string; ids: number[] }>();
  #nextId = 1;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #stopped: string | undefined;

  constructor(readonly root: string) {}

  /** How many files were read. */
  get fileCount(): number {
    return this.#files.size;
  }

  /** Why not all of the folder was read; undefined when it was. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Reads what is new or has changed, and forgets what is gone. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#freshUntil) return;
    const { files, stopped } = await findSources(this.root);
    this.#stopped = stopped;
    const gone = new Set(this.#files.keys());
    for (const file of files) {
      gone.delete(file.name);
      await this.#update(file);
    }
    for (const name of gone) this.#forget(name);
    this.#freshUntil = performance.now() + FRESH_MS;
  }

  /** The best passages for `text`, best first, at most `limit`. */
  search(text: string, limit: number): Hit[] {
    const query = [...new Set(words(text))].slice(0, MAX_QUERY_WORDS).join(" ");
    const found = this.#index.search(query);
    const hits = found.flatMap(({ id, score }) => {
      const passage = this.#passages.get(id);
      return passage === undefined ? [] : [{ passage, score: score * standing(passage) }];
    });
    const best = hits.sort((a, b) => b.score - a.score).slice(0, limit);
    const top = best[0]?.score ?? 1;
    return best.map(({ passage, score }) => ({ passage, score: score / top }));
  }

  /** How much each of `terms` tells: the rarer in the corpus, the more; one that is not there the most. */
  weights(terms: readonly string[]): Map<string, number> {
    const total = this.#index.documentCount;
    return new Map(
      [...new Set(terms)].map((term) => {
        const having = this.#index.search(term, { fields: ["text"], tokenize: (text) => [text] }).length;
        return [term, Math.log(1 + total / (having + 0.5))];
      }),
    );
  }

  /** The passages of documents, in the order they were read: what a fact may be taken from. */
  documents(): Passage[] {
    return [...this.#passages.values()].filter(
      (passage) => passage.kind !== "code" && standing(passage) === 1,
    );
  }

  async #update(file: SourceFile): Promise<void> {
    const version = `${file.size} ${file.changed}`;
    if (this.#files.get(file.name)?.version === version) return;
    this.#forget(file.name);
    const text = await readText(this.root, file.name);
    if (text === undefined) return;
    const ids = passagesOf(file.name, text).map((passage) => {
      const id = this.#nextId++;
      this.#passages.set(id, passage);
      this.#index.add({ id, text: passage.lines.join("\n"), heading: passage.heading, name: file.name });
      return id;
    });
    this.#files.set(file.name, { version, ids });
  }

  #forget(name: string): void {
    for (const id of this.#files.get(name)?.ids ?? []) {
      this.#index.discard(id);
      this.#passages.delete(id);
    }
    this.#files.delete(name);
  }
}

/** Documentation (1) answers questions better than code, code better than tests and lists of packages. */
export function standing({ file, kind }: Passage): number {
  if (/(?:^|\/)(?:tests?|__tests__|spec|fixtures|bench)\/|[._](?:test|spec)\.\w+$/i.test(file)) return 0.2;
  if (/(?:^|\/)(?:licen[cs]e|third_party|changelog|copying)|[-.]lock\b|-lock\.\w+$/i.test(file)) return 0.1;
  return kind === "code" ? 0.6 : 1;
}
