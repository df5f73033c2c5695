import { type Findings, find } from "../extractive/find.js";
import { readQuestion } from "../extractive/question.js";
import { rankWindows, type Window } from "../extractive/windows.js";
import type { FolderSearch, Table } from "../sources/folder-search.js";
import { words } from "../sources/words.js";
import { ROLE_WORDS } from "./claims.js";
import { apart, propertyWords } from "./schema/property-words.js";
import { unitOf } from "./schema/units.js";

const PASSAGES = 40;
const TABLES = 40;
/** What a word of a description counts: what the schema says of a value need not be what the sources say. */
const DESCRIBED = 0.2;

/** What the sources have to say on one prompt, looked up when it is first asked for. */
export class Lookup {
  #tables: Promise<Table[]> | undefined;
  #findings: Promise<Findings> | undefined;
  #subject: Promise<ReadonlyMap<string, number>> | undefined;
  readonly #windows = new Map<string, Promise<Window[]>>();
  constructor(
    private readonly search: FolderSearch,
    readonly prompt: string,
    /** Words of the schema, for finding its tables. */
    private readonly topic: string,
  ) {}

  /** The tables that speak of the prompt or of what the schema asks for. */
  tables(): Promise<Table[]> {
    this.#tables ??= this.search.tables(`${this.prompt} ${this.topic}`, TABLES);
    return this.#tables;
  }

  /** What the prompt is about, without what a value has to be said to be; each word with what it tells. */
  subject(): Promise<ReadonlyMap<string, number>> {
    this.#subject ??= this.#weigh(readQuestion(this.prompt.replace(ROLE_WORDS, " ")).terms);
    return this.#subject;
  }

  /** What answers the prompt itself. */
  findings(): Promise<Findings> {
    this.#findings ??= find(this.search, this.prompt);
    return this.#findings;
  }

  /** Windows that speak of the prompt and of the property `name`, which its schema describes with `about`; best first. */
  windows(name: string, about: string): Promise<Window[]> {
    const key = JSON.stringify([name, about]);
    const known = this.#windows.get(key) ?? this.#rank(name, about);
    this.#windows.set(key, known);
    return known;
  }

  async #weigh(terms: readonly string[]): Promise<Map<string, number>> {
    const weights = await this.search.weights(terms);
    return new Map(terms.map((term, i) => [term, weights[i] ?? 0]));
  }

  async #rank(name: string, about: string): Promise<Window[]> {
    const question = readQuestion(this.prompt);
    const shares = new Map(words(apart(about)).map((word) => [word, DESCRIBED]));
    for (const word of propertyWords(name)) if (unitOf(word) === undefined) shares.set(word, 1);
    for (const word of question.terms) shares.set(word, 1);
    const terms = [...shares.keys()];
    const weights = await this.search.weights(terms);
    const weighted = terms.map((term, i): [string, number] => [
      term,
      (shares.get(term) ?? 1) * (weights[i] ?? 0),
    ]);
    const hits = await this.search.search(`${this.prompt} ${apart(name)} ${about}`, PASSAGES);
    return rankWindows(hits, question, new Map(weighted));
  }
}
