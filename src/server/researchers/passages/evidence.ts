import { type Library, standing } from "./library.js";
import { ABOUT, type Findings, find } from "./report.js";
import { coverage, rank, type Scored } from "./sentences.js";
import { type Table, tablesOf } from "./tables.js";
import { words } from "./words.js";

const PASSAGES = 40;

/** What the library has to say on one prompt, looked up when it is first asked for. */
export class Evidence {
  #tables: Table[] | undefined;
  #findings: Findings | undefined;
  constructor(
    private readonly library: Library,
    readonly prompt: string,
  ) {}

  /** All tables of documents. */
  get tables(): readonly Table[] {
    this.#tables ??= tablesOf(this.library.documents());
    return this.#tables;
  }

  /** What answers the prompt itself. */
  get findings(): Findings {
    this.#findings ??= find(this.library, this.prompt);
    return this.#findings;
  }

  /** Sentences that speak of `about` and of the prompt, best first, out of what was written for people. */
  sentences(about: string): Scored[] {
    const asked = this.library.weights(words(this.prompt).slice(0, 64));
    const weights = new Map([...asked, ...this.library.weights(words(about))]);
    const hits = this.library
      .search(`${about} ${this.prompt}`, PASSAGES)
      .filter(({ passage }) => standing(passage) > 0.5);
    return rank(hits, this.prompt, weights).filter(
      (sentence) => sentence.kind !== "code" && (asked.size === 0 || coverage(sentence, asked) >= ABOUT),
    );
  }
}
