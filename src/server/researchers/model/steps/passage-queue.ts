import type { Passage, Source } from "../../sources/source.js";
import type { ModelSession } from "../session/session.js";

/** How many passages of one query are taken. */
const PER_QUERY = 15;

/** The passages that were found and that the model has not seen, the best of each query first. */
export class PassageQueue {
  #waiting: Passage[] = [];
  readonly #seen = new Set<string>();
  readonly #asked = new Set<string>();
  constructor(
    private readonly sources: Source,
    private readonly session: Pick<ModelSession, "interruptible" | "isSecret">,
  ) {}

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Searches for what was not searched for before. What it finds goes before what waits already. */
  async search(queries: readonly string[]): Promise<void> {
    const found: Passage[][] = [];
    for (const query of queries) {
      if (this.#asked.has(query)) continue;
      this.#asked.add(query);
      const hits = await this.session.interruptible(this.sources.search(query, PER_QUERY));
      found.push(hits.map(({ passage }) => passage));
    }
    const fresh = interleaved(found).filter((passage) => this.#isNew(passage));
    this.#waiting = [...fresh, ...this.#waiting];
  }

  /** Takes out the next ones, as many as `maxBytes` of their texts in a JSON string allow. */
  next(maxBytes: number, textOf: (passage: Passage, index: number) => string): Passage[] {
    const taken: Passage[] = [];
    let bytes = 0;
    const left = this.#waiting.filter((passage) => {
      const size = Buffer.byteLength(JSON.stringify(textOf(passage, taken.length))) + 2;
      if (bytes + size > maxBytes) return true;
      bytes += size;
      taken.push(passage);
      return false;
    });
    this.#waiting = left;
    return taken;
  }

  putBack(passages: readonly Passage[]): void {
    this.#waiting = [...passages, ...this.#waiting];
  }

  #isNew(passage: Passage): boolean {
    const place = `${passage.id}:${passage.line}`;
    if (this.#seen.has(place) || passage.lines.some((line) => this.session.isSecret(line))) return false;
    this.#seen.add(place);
    return true;
  }
}

/** The first of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
