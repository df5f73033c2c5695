import { FIELD_WEIGHT, type Fields, type Segment, SegmentBuilder } from "./segments.js";

/** Saturation of a term's frequency, and the share of a passage's length that counts: the usual values of BM25. */
const K1 = 1.2;
const B = 0.6;
/** A posting has 24 bits for its passage. */
const MOST_PASSAGES = 0xffffff;

/** One place where a query was found. */
export interface Found {
  /** Index of the segment and of the passage in it. */
  segment: number;
  passage: number;
  score: number;
}

/** An inverted index with BM25F ranking. Segments are added in one go: what has not changed is not read again. */
export class Bm25Index {
  readonly #builder = new SegmentBuilder();
  #segments: readonly Segment[] = [];
  /** Number of the first passage of each segment. */
  #bases = new Uint32Array(0);
  #lengths = new Uint16Array(0);
  #averageLength = 1;
  /** The postings of term t are those from #starts[t] to #starts[t + 1]. */
  #starts = new Uint32Array(1);
  #postings = new Uint32Array(0);
  #scores = new Float32Array(0);

  /** The number of passages. */
  get size(): number {
    return this.#lengths.length;
  }

  /** Makes a segment of the passages of one file. */
  segment(passages: readonly Fields[]): Segment {
    return this.#builder.build(passages);
  }

  /** From now on, `segments` are all there is. */
  replace(segments: readonly Segment[]): void {
    this.#segments = segments;
    this.#bases = new Uint32Array(segments.length);
    let passages = 0;
    let postings = 0;
    segments.forEach(({ lengths, postings: own }, i) => {
      this.#bases[i] = passages;
      passages = Math.min(passages + lengths.length, MOST_PASSAGES);
      postings += own.length;
    });
    this.#lengths = new Uint16Array(passages);
    segments.forEach(({ lengths }, i) => {
      const base = this.#bases[i] ?? 0;
      this.#lengths.set(lengths.subarray(0, passages - base), base);
    });
    this.#averageLength = Math.max(
      1,
      this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, passages),
    );
    this.#scores = new Float32Array(passages);
    this.#invert(postings);
  }

  /** How much a term tells: the rarer it is, the more; one that is not there the most. */
  weight(term: string): number {
    const id = this.#builder.idOf(term);
    const having = id === undefined ? 0 : this.#count(id);
    return Math.log(1 + (this.size - having + 0.5) / (having + 0.5));
  }

  /**
   * The passages that have any of `terms` (each with what it counts), best first, at most `limit`. `factor` says what
   * a passage's score is multiplied with; 0 leaves it out.
   */
  search(
    terms: ReadonlyMap<string, number>,
    limit: number,
    factor: (segment: number, passage: number) => number,
  ): Found[] {
    const touched: number[] = [];
    for (const [term, share] of terms) {
      const id = this.#builder.idOf(term);
      if (id !== undefined) this.#score(id, share * this.weight(term), touched);
    }
    const found = touched.map((passage) => {
      const at = this.#place(passage);
      const score = (this.#scores[passage] ?? 0) * factor(at.segment, at.passage);
      this.#scores[passage] = 0;
      return { ...at, score };
    });
    return found
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.segment - b.segment || a.passage - b.passage)
      .slice(0, limit);
  }

  #score(id: number, weight: number, touched: number[]): void {
    const end = this.#starts[id + 1] ?? 0;
    for (let i = this.#starts[id] ?? 0; i < end; i++) {
      const posting = this.#postings[i] ?? 0;
      const passage = posting >>> 8;
      const frequency = (posting & 0xff) / FIELD_WEIGHT.text;
      const length = (this.#lengths[passage] ?? 0) / this.#averageLength;
      if (this.#scores[passage] === 0) touched.push(passage);
      this.#scores[passage] =
        (this.#scores[passage] ?? 0) +
        (weight * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * length));
    }
  }

  /** Sorts the postings of all segments by term. */
  #invert(count: number): void {
    const starts = new Uint32Array(this.#builder.size + 2);
    for (const { postings } of this.#segments) {
      for (const posting of postings) {
        const at = (posting >>> 8) + 2;
        starts[at] = (starts[at] ?? 0) + 1;
      }
    }
    for (let i = 2; i < starts.length; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
    const sorted = new Uint32Array(count);
    this.#segments.forEach(({ ends, postings }, s) => {
      const base = this.#bases[s] ?? 0;
      let i = 0;
      ends.forEach((end, passage) => {
        for (; i < end; i++) {
          const posting = postings[i] ?? 0;
          const term = (posting >>> 8) + 1;
          const at = starts[term] ?? 0;
          starts[term] = at + 1;
          sorted[at] = Math.min(base + passage, MOST_PASSAGES - 1) * 256 + (posting & 0xff);
        }
      });
    });
    this.#starts = starts;
    this.#postings = sorted;
  }

  #count(id: number): number {
    return (this.#starts[id + 1] ?? 0) - (this.#starts[id] ?? 0);
  }

  #place(passage: number): { segment: number; passage: number } {
    let low = 0;
    let high = this.#bases.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#bases[middle] ?? 0) <= passage) low = middle;
      else high = middle - 1;
    }
    return { segment: low, passage: passage - (this.#bases[low] ?? 0) };
  }
}
