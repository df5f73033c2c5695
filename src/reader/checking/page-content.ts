import { hashOf, Places, Postings } from "../../core/postings.js";
import { detectLanguage, getVocabulary, hasWords, type Vocabulary } from "../languages/languages.js";
import { FigureIndex } from "../matching/figure-index.js";
import { QuotableText } from "../matching/quotations.js";
import { listSearchKeys } from "../matching/words.js";

/** A paragraph, list item or row of a page. */
export interface PagePassage {
  text: string;
  /** The heading, caption and column heads directly over it. */
  over: string;
  /** All headings over it and the page's title, which name its subject. */
  subject?: string;
  /** Whether it is a table row; neighbouring rows are about other subjects. */
  isRow?: boolean;
}

/** Yields to other work; rejects if the check should end. */
export type Pause = () => Promise<void>;

/** How many passages are used to detect a page's language. */
const SAMPLE = 200;
/** Characters of a page to index before yielding to other work. */
const TURN = 50_000;

/** The content of a page that was read. Its indexes are built when the first sentence needs them. */
export class PageContent {
  readonly language: string | undefined;
  readonly #made = new Map<Vocabulary | "quotable", Promise<unknown>>();
  #rest: PageContent | undefined;

  /** `cut`: why the page continues after what was read. `whole`: all text of the page, including hidden text. */
  constructor(
    readonly passages: readonly PagePassage[],
    readonly cut: string | undefined = undefined,
    private readonly whole = "",
    language?: string,
  ) {
    const beginning = passages.slice(0, SAMPLE).map(({ text }) => text);
    this.language = language ?? detectLanguage(beginning.join("\n"));
  }

  /** Whether the months and powers of the page's language can be read. */
  get isReadable(): boolean {
    return hasWords(this.language);
  }

  /** The text of the page outside its passages; its places are meaningless. */
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

  /** Returns the index of the page for sentences in a language. */
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
    const cached = this.#made.get(name);
    if (cached) return cached as Promise<T>;
    const building = fill(make(), this.passages, pause);
    this.#made.set(name, building);
    // Another report may need the index that an abort interrupted here.
    building.catch(() => this.#made.delete(name));
    return building;
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

/** Finds the passages of a page that have a figure or a word. */
export class PageIndex {
  readonly figures: FigureIndex;
  readonly #words = new Postings();
  /** The words of all headings over a passage, which name its subject. */
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
    const keys = listSearchKeys(`${text}\n${over}`, hasCompounds);
    for (const key of keys) this.#words.add(hashOf(key), place);
    if (this.#subject.text !== subject)
      this.#subject = { text: subject, keys: listSearchKeys(subject, hasCompounds) };
    // A place with a name in its text and over it counts once, since the number of places tells whether the name is rare.
    for (const key of this.#subject.keys) if (!keys.has(key)) this.#subjects.add(hashOf(key), place);
  }

  findWord(key: string): Places {
    return this.#words.listBetween(hashOf(key));
  }

  /** Finds the passages that mention a name themselves or in a heading over them. */
  findName(key: string): Places {
    return Places.join([this.findWord(key), this.#subjects.listBetween(hashOf(key))]);
  }
}

export function joinOnOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
