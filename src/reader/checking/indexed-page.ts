import { hashText, InvertedIndex, PostingsList } from "../../core/inverted-index.js";
import { detectLanguage, getVocabulary, hasWordLists, type Vocabulary } from "../languages/vocabulary.js";
import { FigureIndex } from "../matching/figure-index.js";
import { QuotableText } from "../matching/quotations.js";
import { listSearchKeys } from "../matching/words.js";

/** A paragraph, list item or table row of a page. */
export interface PagePassage {
  text: string;
  /** The heading, caption and column titles directly above the passage. */
  over: string;
  /** The page's title and all headings above the passage, which name its subject. */
  subject?: string;
  /** Whether the passage is a table row. Adjacent rows have different subjects. */
  isRow?: boolean;
}

/** Lets other work run. Rejects if the check should end. */
export type Pause = () => Promise<void>;

/** How many passages are used to detect the language of a page. */
const SAMPLE = 200;
/** How many characters of a page are indexed before other work may run. */
const TURN = 50_000;

/** The content of a page that was read. Builds each index when a sentence needs it for the first time. */
export class PageContent {
  readonly language: string | undefined;
  readonly #made = new Map<Vocabulary | "quotable", Promise<unknown>>();
  #rest: PageContent | undefined;

  /** `cut`: why only a part of the page was read. `whole`: all text of the page, including hidden text. */
  constructor(
    readonly passages: readonly PagePassage[],
    readonly cut: string | undefined = undefined,
    private readonly whole = "",
    language?: string,
  ) {
    const beginning = passages.slice(0, SAMPLE).map(({ text }) => text);
    this.language = language ?? detectLanguage(beginning.join("\n"));
  }

  /** Whether months, and words such as "million", in the page's language can be read. */
  get isReadable(): boolean {
    return hasWordLists(this.language);
  }

  /** The text of the page that is in none of its passages. The numbers of its passages have no meaning. */
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

  /** Returns the index of the page for sentences in `language`. */
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
    const building = fillIndex(make(), this.passages, pause);
    this.#made.set(name, building);
    // If an abort interrupts the building, another report may still need the index.
    building.catch(() => this.#made.delete(name));
    return building;
  }
}

async function fillIndex<T extends { add(passage: PagePassage, place: number): void }>(
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

/** An index of a page that finds the passages with a figure or a word. */
export class PageIndex {
  readonly figures: FigureIndex;
  readonly #words = new InvertedIndex();
  /** The words of the headings above each passage, which name its subject. */
  readonly #subjects = new InvertedIndex();
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
    for (const key of keys) this.#words.add(hashText(key), place);
    if (this.#subject.text !== subject)
      this.#subject = { text: subject, keys: listSearchKeys(subject, hasCompounds) };
    // Count a passage once if a name is both in it and above it, because the count decides whether the name is rare.
    for (const key of this.#subject.keys) if (!keys.has(key)) this.#subjects.add(hashText(key), place);
  }

  findWord(key: string): PostingsList {
    return this.#words.listBetween(hashText(key));
  }

  /** Finds the passages that contain a name, or that are below a heading with it. */
  findName(key: string): PostingsList {
    return PostingsList.join([this.findWord(key), this.#subjects.listBetween(hashText(key))]);
  }
}

export function joinOnOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
