import { ABOUT, type Findings, find } from "../extractive/report.js";
import { coverage, rank, type Scored } from "../extractive/sentences.js";
import { type Corpus, standing } from "../sources/corpus.js";
import { type Table, tablesOf } from "../sources/tables.js";
import { words } from "../sources/words.js";

const PASSAGES = 40;

/** What the corpus has to say on one prompt, looked up when it is first asked for. */
export class Lookup {
  #tables: Table[] | undefined;
  #findings: Findings | undefined;
  constructor(
    private readonly corpus: Corpus,
    readonly prompt: string,
  ) {}

  /** All tables of documents. */
  get tables(): readonly Table[] {
    this.#tables ??= tablesOf(this.corpus.documents());
    return this.#tables;
  }

  /** What answers the prompt itself. */
  get findings(): Findings {
    this.#findings ??= find(this.corpus, this.prompt);
    return this.#findings;
  }

  /** Sentences that speak of `about` and of the prompt, best first, out of what was written for people. */
  sentences(about: string): Scored[] {
    const asked = this.corpus.weights(words(this.prompt).slice(0, 64));
    const weights = new Map([...asked, ...this.corpus.weights(words(about))]);
    const hits = this.corpus
      .search(`${about} ${this.prompt}`, PASSAGES)
      .filter(({ passage }) => standing(passage) > 0.5);
    return rank(hits, this.prompt, weights).filter(
      (sentence) => sentence.kind !== "code" && (asked.size === 0 || coverage(sentence, asked) >= ABOUT),
    );
  }
}
