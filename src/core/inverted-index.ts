/**
 * An index from keys to places. A key is a number, such as an amount or the hash of a word. The places of a key must be added in
 * ascending order. A place takes 12 bytes, so that the index of a page of eight million characters fits in memory.
 */
export class InvertedIndex {
  #added: { keys: number[]; places: number[] } | undefined = { keys: [], places: [] };
  #keys = new Float64Array();
  #begins = new Uint32Array();
  #places = new Int32Array();

  /** Adds a place. If the key has the place already, nothing changes. */
  add(key: number, place: number): void {
    this.#added?.keys.push(key);
    this.#added?.places.push(place);
  }

  /** Returns the places of the keys from `least` to `most`. After the first call, nothing more can be added. */
  listBetween(least: number, most = least): PostingsList {
    if (this.#added) this.#sort(this.#added.keys, this.#added.places);
    const runs: Run[] = [];
    let count = 0;
    for (let at = findIndexAtLeast(this.#keys, least); (this.#keys[at] ?? Number.NaN) <= most; at++) {
      const places = this.#places.subarray(this.#begins[at], this.#begins[at + 1]);
      if (runs.length < MOST_RUNS) runs.push({ places });
      count += places.length;
    }
    return count === 0 ? NO_PLACES : new PostingsList(runs, count);
  }

  #sort(keys: readonly number[], places: readonly number[]): void {
    this.#added = undefined;
    const sorted = Float64Array.from(keys).sort();
    this.#keys = sorted.filter((key, i) => i === 0 || key !== sorted[i - 1]);
    const ranks = Uint32Array.from(keys, (key) => findIndexAtLeast(this.#keys, key));
    const last = new Int32Array(this.#keys.length).fill(-1);
    for (const [i, rank] of ranks.entries()) {
      // A place that the key has already is stored behind the places of all keys.
      if (last[rank] === places[i]) ranks[i] = this.#keys.length;
      else last[rank] = places[i] ?? 0;
    }
    this.#begins = new Uint32Array(this.#keys.length + 2);
    for (const rank of ranks) this.#begins[rank + 1] = (this.#begins[rank + 1] ?? 0) + 1;
    for (let i = 1; i < this.#begins.length; i++)
      this.#begins[i] = (this.#begins[i] ?? 0) + (this.#begins[i - 1] ?? 0);
    const next = this.#begins.slice();
    this.#places = new Int32Array(places.length);
    for (const [i, rank] of ranks.entries()) {
      this.#places[next[rank] ?? 0] = places[i] ?? 0;
      next[rank] = (next[rank] ?? 0) + 1;
    }
  }
}

/** The most keys of a range whose places are listed. The places of further keys are only counted. */
const MOST_RUNS = 64;

/** The most places that `excludePlaces` checks to find out whether any place remains. */
const MOST_TRIED = 200;

/** Ascending places, without the excluded ones. */
interface Run {
  places: Int32Array;
  excluded?: PostingsList;
}

/** The places where one thing occurs, in any of its forms. */
export class PostingsList {
  constructor(
    private readonly runs: readonly Run[],
    /** The number of occurrences; several may be at one place. */
    readonly count: number,
  ) {}

  static fromPlace(place: number): PostingsList {
    return new PostingsList([{ places: Int32Array.of(place) }], 1);
  }

  static join(all: readonly PostingsList[]): PostingsList {
    const nonEmpty = all.filter(({ count }) => count > 0);
    if (nonEmpty.length < 2) return nonEmpty[0] ?? NO_PLACES;
    return new PostingsList(
      nonEmpty.flatMap(({ runs }) => runs),
      nonEmpty.reduce((sum, { count }) => sum + count, 0),
    );
  }

  /**
   * Returns these places without the excluded ones. If none remains, returns NO_PLACES, but looks for that only among at most
   * MOST_TRIED places; a longer list may be empty without being NO_PLACES.
   */
  excludePlaces(excluded: PostingsList): PostingsList {
    if (excluded.count === 0) return this;
    const rest = new PostingsList(
      this.runs.map(({ places }) => ({ places, excluded })),
      this.count,
    );
    return this.count <= MOST_TRIED && rest.find(MOST_TRIED, () => true) === undefined ? NO_PLACES : rest;
  }

  has(place: number): boolean {
    return this.runs.some(
      ({ places, excluded }) => places[findIndexAtLeast(places, place)] === place && !excluded?.has(place),
    );
  }

  /** Tries the first `most` places and returns the first one that passes `test`; undefined if none does. */
  find(most: number, test: (place: number) => boolean): number | undefined {
    let left = most;
    for (const run of this.runs)
      for (let i = 0; i < run.places.length && left > 0; i++, left--) {
        const place = run.places[i] ?? 0;
        if (!run.excluded?.has(place) && test(place)) return place;
      }
    return undefined;
  }

  /** Returns the first `most` places. */
  listFirst(most: number): number[] {
    const places: number[] = [];
    this.find(most, (place) => places.push(place) === most);
    return places;
  }
}

export const NO_PLACES = new PostingsList([], 0);

/** Returns the index of the first number that is at least `least`, in ascending numbers; their count if there is none. */
export function findIndexAtLeast(numbers: ArrayLike<number>, least: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Hashes a text to 32 bits (FNV-1a); two texts seldom have the same hash. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
