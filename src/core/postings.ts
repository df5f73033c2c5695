/**
 * Where things stand: each thing is a number, as an amount or the hash of a word, and stands at places, which are added in
 * ascending order. 12 bytes for each place, so that a page of eight million characters has room.
 */
export class Postings {
  #added: { keys: number[]; places: number[] } | undefined = { keys: [], places: [] };
  #keys = new Float64Array();
  #begins = new Uint32Array();
  #places = new Int32Array();

  add(key: number, place: number): void {
    this.#added?.keys.push(key);
    this.#added?.places.push(place);
  }

  /** The places of the keys from `least` to `most`. The first call ends the adding. */
  between(least: number, most = least): Places {
    this.#sort();
    const runs: { places: Int32Array }[] = [];
    let count = 0;
    for (let at = indexFrom(this.#keys, least); (this.#keys[at] ?? Number.NaN) <= most; at++) {
      const run = this.#places.subarray(this.#begins[at], this.#begins[at + 1]);
      if (runs.length < MOST_RUNS) runs.push({ places: run });
      count += run.length;
    }
    return new Places(runs, count);
  }

  #sort(): void {
    if (this.#added === undefined) return;
    const { keys, places } = this.#added;
    this.#added = undefined;
    const sorted = Float64Array.from(keys).sort();
    let size = 0;
    for (const key of sorted) if (size === 0 || sorted[size - 1] !== key) sorted[size++] = key;
    this.#keys = sorted.slice(0, size);
    const ranks = Uint32Array.from(keys, (key) => indexFrom(this.#keys, key));
    this.#begins = new Uint32Array(size + 1);
    for (const rank of ranks) this.#begins[rank + 1] = (this.#begins[rank + 1] ?? 0) + 1;
    for (let i = 1; i <= size; i++) this.#begins[i] = (this.#begins[i] ?? 0) + (this.#begins[i - 1] ?? 0);
    const next = this.#begins.slice();
    this.#places = new Int32Array(places.length);
    for (const [i, rank] of ranks.entries()) {
      const at = next[rank] ?? 0;
      next[rank] = at + 1;
      this.#places[at] = places[i] ?? 0;
    }
  }
}

/** A number with more different amounts near it than this is looked for among the first of them. */
const MOST_RUNS = 64;

/** The places of one thing, which may stand there in several forms. */
export class Places {
  constructor(
    private readonly runs: readonly { places: Int32Array; left?: Places }[] = [],
    /** How many they are; a place that has it twice may count twice. */
    readonly count = 0,
  ) {}

  static join(all: readonly Places[]): Places {
    return new Places(
      all.flatMap(({ runs }) => runs),
      all.reduce((sum, { count }) => sum + count, 0),
    );
  }

  static of(place: number): Places {
    return new Places([{ places: Int32Array.of(place) }], 1);
  }

  /** These without `left`. */
  except(left: Places): Places {
    return left.count === 0
      ? this
      : new Places(
          this.runs.map(({ places }) => ({ places, left })),
          this.count,
        );
  }

  has(place: number): boolean {
    return this.runs.some(
      ({ places, left }) => places[indexFrom(places, place)] === place && !left?.has(place),
    );
  }

  *[Symbol.iterator](): Generator<number> {
    for (const { places, left } of this.runs) for (const place of places) if (!left?.has(place)) yield place;
  }
}

/** The index of the first of ascending numbers that is at least `least`. */
function indexFrom(numbers: Float64Array | Int32Array, least: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The index behind the last of ascending numbers that is at most `most`. */
export function indexAfter(numbers: readonly number[], most: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) <= most) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A number of 32 bits for a text (FNV-1a); two texts seldom have the same. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
