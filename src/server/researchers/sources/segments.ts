import { runsOf, termsOf } from "./words.js";

/** What a word counts in each field, in quarters of a word of the text itself (BM25F). */
export const FIELD_WEIGHT = { text: 4, heading: 3, name: 1 } as const;
/** A posting is one number: 24 bits for the term, 8 for its weighted frequency. */
const MOST_WEIGHT = 0xff;
/** Words beyond these are not searchable: only data has as many different ones. */
const MOST_TERMS = 1_500_000;
const MOST_RUNS = 200_000;
const NOTHING: { text: string; ids: readonly number[] } = { text: "", ids: [] };

/** The postings of one file: for each of its passages its length in words, and its terms with their weight. */
export interface Segment {
  lengths: Uint16Array;
  /** Where the postings of each passage end. */
  ends: Uint32Array;
  postings: Uint32Array;
}

/** The text of one passage by field. */
export type Fields = Record<keyof typeof FIELD_WEIGHT, string>;

/** Makes segments, and gives each word that they have a number. */
export class SegmentBuilder {
  readonly #terms = new Map<string, number>();
  /** Most runs of letters come again and again: what ids they have. */
  readonly #runs = new Map<string, readonly number[]>();
  readonly #last = { heading: NOTHING, name: NOTHING };

  /** How many different words there are. */
  get size(): number {
    return this.#terms.size;
  }

  /** The number of a word; undefined if no segment has it. */
  idOf(word: string): number | undefined {
    return this.#terms.get(word);
  }

  /** Makes a segment of the passages of one file. */
  build(passages: readonly Fields[]): Segment {
    const lengths = new Uint16Array(passages.length);
    const ends = new Uint32Array(passages.length);
    const postings: number[] = [];
    passages.forEach((fields, i) => {
      const weights = new Map<number, number>();
      lengths[i] = Math.min(this.#weigh(this.#idsOf(fields.text), FIELD_WEIGHT.text, weights), 0xffff);
      this.#weigh(this.#repeated("heading", fields.heading), FIELD_WEIGHT.heading, weights);
      this.#weigh(this.#repeated("name", fields.name), FIELD_WEIGHT.name, weights);
      for (const [id, weight] of weights) postings.push(id * 256 + Math.min(weight, MOST_WEIGHT));
      ends[i] = postings.length;
    });
    return { lengths, ends, postings: Uint32Array.from(postings) };
  }

  /** Adds `weight` for each of `ids`; returns how many there are. */
  #weigh(ids: readonly number[], weight: number, weights: Map<number, number>): number {
    for (const id of ids) weights.set(id, (weights.get(id) ?? 0) + weight);
    return ids.length;
  }

  /** The ids of a field that neighbouring passages have in common. */
  #repeated(field: "heading" | "name", text: string): readonly number[] {
    const last = this.#last[field];
    if (last.text !== text) this.#last[field] = { text, ids: this.#idsOf(text) };
    return this.#last[field].ids;
  }

  #idsOf(text: string): number[] {
    const ids: number[] = [];
    for (const run of runsOf(text)) for (const id of this.#idsOfRun(run)) ids.push(id);
    return ids;
  }

  #idsOfRun(run: string): readonly number[] {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    if (this.#runs.size >= MOST_RUNS) this.#runs.clear();
    const ids = termsOf(run).flatMap((word) => this.#idFor(word) ?? []);
    this.#runs.set(run, ids);
    return ids;
  }

  #idFor(word: string): number | undefined {
    const known = this.#terms.get(word);
    if (known !== undefined || this.#terms.size >= MOST_TERMS) return known;
    const id = this.#terms.size;
    this.#terms.set(word, id);
    return id;
  }
}
