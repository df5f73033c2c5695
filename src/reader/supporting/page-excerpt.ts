import { PageContent, type PagePassage, type Pause } from "../checking/indexed-page.js";
import type { analyseClaim } from "../checking/judge-sentence.js";
import { splitIntoStems } from "../matching/words.js";
import { splitSentences } from "../parsing/split-sentences.js";
import { Bm25Index } from "../searching/bm25-index.js";

/** A claim, with the items to look for. */
export type ClaimContent = ReturnType<typeof analyseClaim>;

/** A passage, or a part of a long passage, that may be shown to a model. */
export interface Piece extends PagePassage {
  page: PageExcerpt;
  place: number;
}

/** The longest piece in characters. Longer passages are split. */
const LONGEST = 800;
/** The longest neighbour of a piece that is shown with it, in characters. */
const SHORT = 200;
/** The most characters that a model is shown for one claim (contract §11). */
const MOST_OF_CLAIM = 3_200;
/** How many of the best pieces are shown, and their least score relative to the best score. */
const MOST_BEST = 4;
const LEAST_SHARE = 0.4;
/** How many pieces with each figure of the claim are shown before all others. */
const WITH_FIGURE = 2;

/** A page, pieces of which are shown to a model. */
export class PageExcerpt {
  readonly content: PageContent;
  readonly pieces: readonly Piece[];
  readonly #ranking = new Bm25Index();

  constructor(page: PageContent) {
    const passages = page.passages.flatMap(cutPassage);
    const isWhole = passages.length === page.passages.length;
    this.content = isWhole ? page : new PageContent(passages, page.cut, "", page.language);
    this.pieces = passages.map((passage, place) => ({ ...passage, page: this, place }));
    this.#ranking.set(
      "",
      passages.map(({ text, over }) => `${over}\n${text}`),
    );
  }

  /** Chooses the pieces to show for a claim: those with its figures, the best matches, and short neighbours of both. */
  async choose({ text, over, language, sought }: ClaimContent, pause: Pause): Promise<Set<Piece>> {
    const { figures } = await this.content.index(language, pause);
    const terms = new Set(splitIntoStems(`${text} ${over}`));
    const withFigures = sought.flatMap((item) => {
      if (item.kind === "quotation") return [];
      const places = figures.findPlaces(item, over);
      return this.#ranking.search(terms, WITH_FIGURE, (_, place) => Number(places.has(place)));
    });
    const best = this.#ranking.search(terms, MOST_BEST);
    const matches = [
      ...withFigures,
      ...best.filter(({ score }) => score >= LEAST_SHARE * (best[0]?.score ?? 0)),
    ];
    // If no piece matches, show the first ones, because a page in another language may share no word with the claim.
    const places = matches.length > 0 ? matches.map(({ passage }) => passage) : [...Array(MOST_BEST).keys()];
    const chosen = places.flatMap((place) => this.pieces[place] ?? []);
    const beside = chosen.flatMap(({ place }) => this.pieces.slice(Math.max(0, place - 1), place + 2));
    const shown = new Set<Piece>();
    let left = MOST_OF_CLAIM;
    for (const piece of [...chosen, ...beside.filter((near) => !near.isRow && near.text.length <= SHORT)]) {
      const size = measureSize([piece]);
      if (size > left || shown.has(piece)) continue;
      left -= size;
      shown.add(piece);
    }
    return shown;
  }
}

/** Returns the size that pieces have in a request, in characters. */
export function measureSize(pieces: Iterable<Piece>): number {
  let size = 0;
  for (const { text, over } of pieces) size += text.length + over.length;
  return size;
}

/** Splits a long passage at the ends of sentences. */
function cutPassage(passage: PagePassage): PagePassage[] {
  if (passage.text.length <= LONGEST) return [passage];
  const parts: string[] = [];
  for (const { segment } of splitSentences(passage.text))
    for (let at = 0; at < segment.length; at += LONGEST) {
      const part = segment.slice(at, at + LONGEST);
      const joined = (parts.at(-1) ?? "") + part;
      if (parts.length > 0 && joined.length <= LONGEST) parts[parts.length - 1] = joined;
      else parts.push(part);
    }
  return parts.map((text) => ({ ...passage, text: text.trim() }));
}
