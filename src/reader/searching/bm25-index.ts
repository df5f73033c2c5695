import { splitIntoStems } from "../matching/words.js";

/** BM25's parameters k1 (saturation of a term's frequency) and b (weight of a passage's length), with the best values for MS MARCO's passages. */
const K1 = 0.82;
const B = 0.68;
/** The largest frequency. A posting is one number, with 24 bits for the term and 8 bits for the frequency. */
const MOST_FREQUENCY = 0xff;
/** How many matches beyond the limit are collected before they are sorted and cut. */
const MOST_WAITING = 10_000;
/** The most different words in the index; further ones are not searchable. Only data files have so many. */
const MOST_TERMS = 1_500_000;

/** The postings of one document. For each passage: its length in words, and the index after its last posting. */
interface Postings {
  lengths: Uint16Array;
  ends: Uint32Array;
  postings: Uint32Array;
}

/** A passage that matches a query. */
export interface PassageMatch {
  document: string;
  /** The index of the passage in the document. */
  passage: number;
  score: number;
}

/**
 * Ranks passages of documents by BM25. A search scans all postings, which takes 3 ms for 10 MB of text. In return, no
 * sorted index has to be updated when a document changes.
 */
export class Bm25Index {
  readonly #terms = new Map<string, number>();
  /** The number of passages that contain each term. */
  readonly #having: number[] = [];
  readonly #documents = new Map<string, Postings>();
  #passages = 0;
  #length = 0;

  /** Adds or replaces a document. */
  set(document: string, passages: readonly string[]): void {
    this.delete(document);
    const lengths = new Uint16Array(passages.length);
    const ends = new Uint32Array(passages.length);
    const postings: number[] = [];
    passages.forEach((text, i) => {
      const frequencies = new Map<number, number>();
      const ids = this.#listIds(text);
      lengths[i] = Math.min(ids.length, 0xffff);
      for (const id of ids) frequencies.set(id, (frequencies.get(id) ?? 0) + 1);
      for (const [id, frequency] of frequencies)
        postings.push(id * 256 + Math.min(frequency, MOST_FREQUENCY));
      ends[i] = postings.length;
    });
    const added = { lengths, ends, postings: Uint32Array.from(postings) };
    this.#documents.set(document, added);
    this.#count(added, 1);
  }

  delete(document: string): void {
    const entry = this.#documents.get(document);
    if (entry) this.#count(entry, -1);
    this.#documents.delete(document);
  }

  /** Returns the weight of a term: the rarer the term, the higher; highest for a term that does not occur. */
  computeWeight(term: string): number {
    const having = this.#having[this.#terms.get(term) ?? -1] ?? 0;
    return Math.log(1 + (this.#passages - having + 0.5) / (having + 0.5));
  }

  /** Returns the `limit` best passages for `terms`, best first. `rank` returns a factor for the score of a passage. */
  search(
    terms: Iterable<string>,
    limit: number,
    rank: (document: string, passage: number) => number = () => 1,
  ): PassageMatch[] {
    const weights = new Float64Array(this.#terms.size);
    for (const term of terms) {
      const id = this.#terms.get(term);
      if (id !== undefined) weights[id] = this.computeWeight(term);
    }
    const average = Math.max(1, this.#length / Math.max(1, this.#passages));
    let matches: PassageMatch[] = [];
    /** The score above which a passage is collected. Not all are, because a word may occur in millions of passages. */
    let least = 0;
    const sortBest = () => matches.sort((a, b) => b.score - a.score).slice(0, limit);
    for (const [document, { lengths, ends, postings }] of this.#documents) {
      let at = 0;
      for (let passage = 0; passage < ends.length; passage++) {
        const norm = K1 * (1 - B + (B * (lengths[passage] ?? 0)) / average);
        const end = ends[passage] ?? 0;
        let score = 0;
        for (; at < end; at++) {
          const posting = postings[at] ?? 0;
          const weight = weights[posting >>> 8] ?? 0;
          const frequency = posting & 0xff;
          if (weight > 0) score += (weight * frequency * (K1 + 1)) / (frequency + norm);
        }
        if (score > 0) score *= rank(document, passage);
        if (score <= least) continue;
        matches.push({ document, passage, score });
        if (matches.length < limit + MOST_WAITING) continue;
        matches = sortBest();
        least = matches.at(-1)?.score ?? 0;
      }
    }
    return sortBest();
  }

  /** Adds (1) or subtracts (-1) the passages and terms of a document. */
  #count({ lengths, postings }: Postings, by: 1 | -1): void {
    this.#passages += by * lengths.length;
    this.#length += by * lengths.reduce((sum, length) => sum + length, 0);
    for (const posting of postings) {
      const id = posting >>> 8;
      this.#having[id] = (this.#having[id] ?? 0) + by;
    }
  }

  #listIds(text: string): number[] {
    const ids: number[] = [];
    for (const word of splitIntoStems(text)) {
      const id = this.#terms.get(word) ?? this.#terms.size;
      if (id >= MOST_TERMS) continue;
      this.#terms.set(word, id);
      ids.push(id);
    }
    return ids;
  }
}
