import { hashOf, Places, Postings } from "../../core/postings.js";
import { detectLanguage, getVocabulary, hasWords, type Vocabulary } from "../languages/languages.js";
import { FigureIndex } from "../matching/figure-index.js";
import { QuotableText } from "../matching/quotations.js";
import { searchKeys } from "../matching/words.js";

/** A paragraph, list item or row of a page. */
export interface PagePassage {
  text: string;
  /** The heading, caption and heads of columns right over it. */
  over: string;
  /** All headings over it and the title of the page: they say what it is about. */
  subject?: string;
  /** Whether it is a row of a table: the rows beside it are about something else. */
  isRow?: boolean;
}

/** Gives way to other work, and rejects if nothing more is wanted. */
export type Pause = () => Promise<void>;

/** How many passages of a page tell its language. */
const SAMPLE = 200;
/** After so many characters of a page other work has its turn. */
const TURN = 50_000;

/** A page that was read. What things are looked up in is made when the first sentence asks for it. */
export class PageContent {
  readonly language: string | undefined;
  readonly #made = new Map<Vocabulary | "quotable", Promise<unknown>>();
  #rest: PageContent | undefined;

  /** `cut`: why the page goes on behind what was read. `whole`: all text of the page, what is hidden too. */
  constructor(
    readonly passages: readonly PagePassage[],
    readonly cut: string | undefined = undefined,
    private readonly whole = "",
    language?: string,
  ) {
    const beginning = passages.slice(0, SAMPLE).map(({ text }) => text);
    this.language = language ?? detectLanguage(beginning.join("\n"));
  }

  /** Whether the months and powers of the page's language are known. */
  get isReadable(): boolean {
    return hasWords(this.language);
  }

  /** The text of the page outside of its passages, at places that mean nothing. */
  get rest(): PageContent {
    if (this.#rest === undefined) {
      const shown = new Set(this.passages.flatMap(({ text }) => text.split("\n")).map(joinOnOneLine));
      const lines = this.whole.split("\n").filter((line) => !shown.has(joinOnOneLine(line)));
      this.#rest = new PageContent(
        lines.map((text) => ({ text, over: "" })),
        undefined,
        "",
        this.language,
      );
    }
    return this.#rest;
  }

  /** The page as sentences of a language look things up in it. */
  index(language: string | undefined, pause: Pause): Promise<PageIndex> {
    const vocabulary = getVocabulary(this.language, language);
    return this.#buildOnce(vocabulary, () => new PageIndex(this, vocabulary), pause);
  }

  getQuotable(pause: Pause): Promise<QuotableText> {
    return this.#buildOnce("quotable", () => new QuotableText(), pause);
  }

  async #buildOnce<T extends { add(passage: PagePassage, place: number): void }>(
    name: Vocabulary | "quotable",
    make: () => T,
    pause: Pause,
  ): Promise<T> {
    const kept = this.#made.get(name);
    if (kept) return kept as Promise<T>;
    const made = fill(make(), this.passages, pause);
    this.#made.set(name, made);
    // Another report may go on where this one was ended.
    made.catch(() => this.#made.delete(name));
    return made;
  }
}

async function fill<T extends { add(passage: PagePassage, place: number): void }>(
  index: T,
  passages: readonly PagePassage[],
  pause: Pause,
): Promise<T> {
  let size = 0;
  for (const [place, passage] of passages.entries()) {
    index.add(passage, place);
    size += passage.text.length + passage.over.length;
    if (size < TURN) continue;
    size = 0;
    await pause();
  }
  return index;
}

/** In which passages of a page figures and words stand. */
export class PageIndex {
  readonly figures: FigureIndex;
  readonly #words = new Postings();
  /** The words of all headings over a passage, which name what it is about. */
  readonly #subjects = new Postings();
  #subject: { text: string; keys: Set<string> } = { text: "", keys: new Set() };

  constructor(
    private readonly page: PageContent,
    vocabulary: Vocabulary,
  ) {
    this.figures = new FigureIndex(vocabulary, "written", page.isReadable);
  }

  add({ text, over, subject = "" }: PagePassage, place: number): void {
    this.figures.add({ text, over }, place);
    const hasCompounds = this.page.language !== "en";
    for (const key of searchKeys(`${text}\n${over}`, hasCompounds)) this.#words.add(hashOf(key), place);
    if (this.#subject.text !== subject)
      this.#subject = { text: subject, keys: searchKeys(subject, hasCompounds) };
    for (const key of this.#subject.keys) this.#subjects.add(hashOf(key), place);
  }

  findWord(key: string): Places {
    return this.#words.listBetween(hashOf(key));
  }

  /** Where a passage says something about what is called so: it or a heading over it has the name. */
  findName(key: string): Places {
    return Places.join([this.findWord(key), this.#subjects.listBetween(hashOf(key))]);
  }
}

export function joinOnOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
