import type { CheckedCitation, CheckedPage, Verdict } from "../../core/protocol/check-outcome.js";
import { languageOf } from "../matching/language.js";
import { type Said, saidIn } from "../matching/quantities.js";
import { GAP, QuotableText, quotationsIn } from "../matching/quotations.js";
import { ELSEWHERE, StatedNumbers } from "../matching/stated-numbers.js";
import type { Token } from "../matching/tokens.js";
import { words } from "../matching/words.js";

/** A paragraph, list item or row of a page; `over` is the heading, caption or head of columns over it. */
export interface PagePassage {
  text: string;
  over: string;
}

/** A verdict with what it rests on. */
type Judged = Pick<CheckedCitation, "verdict" | "missing" | "reason" | "passage">;

/** A page that was read; what sentences are looked up in is made when the first one asks for it. */
export class PageContent {
  readonly #numbers = once(
    () => new StatedNumbers(this.passages.map(({ text, over }, at) => [at, text, over] as const)),
  );
  readonly #quotable = once(() => new QuotableText(this.passages.map(({ text }) => `${text}\n\n`).join("")));
  /** What stands on the page outside of its passages. */
  readonly #rest = once(() => {
    const shown = new Set(this.passages.flatMap(({ text }) => text.split("\n")).map(onOneLine));
    return this.whole
      .split("\n")
      .filter((line) => !shown.has(onOneLine(line)))
      .join("\n");
  });
  readonly #numbersOfRest = once(() => new StatedNumbers([[ELSEWHERE, this.#rest()]]));
  readonly #quotableRest = once(() => new QuotableText(this.#rest()));
  readonly #words = once(() =>
    this.passages.map(({ text, over }) => ` ${words(`${text} ${over}`).join(" ")} `),
  );
  readonly allWords = once(() => this.#words().join(""));
  readonly language: string | undefined;

  /** `isCut`: whether the page goes on behind what was read. `whole`: all text of the page, what is hidden too. */
  constructor(
    readonly passages: readonly PagePassage[],
    readonly isCut: boolean,
    private readonly whole = "",
  ) {
    const beginning = passages.slice(0, SAMPLE).map(({ text }) => text);
    this.language = languageOf(beginning.join("\n"));
  }

  /** The indexes of the passages in which `sought` stands; ELSEWHERE alone if it stands outside of them. */
  passagesOf(sought: Sought, over: string): ReadonlySet<number> {
    if (sought.kind !== "quotation") {
      const found = this.#numbers().passagesOf(sought, over);
      return found.size > 0 ? found : this.#numbersOfRest().passagesOf(sought, over);
    }
    const offset = this.#quotable().placeOf(sought.text);
    if (offset === undefined)
      return new Set(this.#quotableRest().placeOf(sought.text) === undefined ? [] : [ELSEWHERE]);
    let end = 0;
    for (const [at, { text }] of this.passages.entries()) {
      end += text.length + 2;
      if (offset < end) return new Set([at]);
    }
    return new Set();
  }

  wordsOf(passage: number): string {
    return this.#words()[passage] ?? "";
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** How many passages of a page tell its language. */
const SAMPLE = 200;
/** A shorter quotation is a term, not something that somebody said, in words. */
const LEAST_QUOTED = 3;
/** Of a sentence's content words, the share that a page it is about has at least. */
const LEAST_SHARED = 0.2;
/** Number words up to this are mostly no numbers: "one of the". */
const LARGEST_WORD = 12;
/** What numbers parts of a text, of the report or of the source, also as the second of two: `pages 3–7`. */
const NUMBERED =
  /(?:\b(?:pages?|pp?\.|seiten?|s\.|lines?|zeilen?|fig(?:ures?|s)?\.?|abb(?:ildung(?:en)?)?\.?|sections?|sec(?:ts?)?\.|abschnitte?|articles?|artikel|art\.|abs(?:atz|\.)|satz|ziffer|rn\.|paragraphs?|clauses?|recitals?|chapters?|ch\.|kapitel|kap\.|parts?|teile?|tables?|tab\.|tabellen?|box|exhibits?|equations?|eq\.|(?:foot|end)?notes?|slides?|folien?|steps?|schritte?|appendix|annex|anhang|anlage|vol(?:ume|\.)|b(?:and|d\.))|§§?)\s*(?:[\d.]+[a-z]?\s*(?:[,–-]|and|und|to|bis|&)\s*)*$/iu;
/** Before up to three digits; more are a name that a source has, too. */
const COUNTED = /(?:#|\bn[or]\.)\s*$/i;
/** What stands before the number of an item in a line: `(1) …; 2) …`. */
const LISTED = /(?:^|[:;,.(])\s?$/;
/** A year that names a work: `(Miller et al., 2021; Zhao 2019, p. 5)`, `Miller and Zhao (2019)`, `according to Miller (2019)`. */
const WORK =
  /(?:\bet al\.,?|\p{Lu}[\p{L}'’-]+ (?:and|&|und) \p{Lu}[\p{L}'’-]+,?|\b(?:[Aa]s|[Bb]y|[Tt]o|[Ll]aut|[Nn]ach) \p{Lu}[\p{L}'’-]+) [([]?$|[([;]\s*(?:(?:see|cf\.|siehe|vgl\.|[Ss]ources?:|Quelle:) )?\p{Lu}[\p{L}'’ &./-]{1,60},? $/u;
const BEHIND_WORK = /^[a-z]?(?:[);\]]|[,:] (?:pp?\.|S\.)? ?\d)/;
/** When somebody looked at a source. */
const ACCESSED = /(?:accessed|retrieved|abgerufen|aufgerufen|consulté|consultado)(?: on| am| le| el)?:? $/i;
/** What stands before a number that is part of a name, which a source may leave out: `COVID-19`. */
const NAME = /\p{L}[-‑]$/u;

/** Something in a sentence that its source has to say. */
export type Sought = Said | (Token & { kind: "quotation" });

/** The numbers, dates and quotations of a sentence that are looked for. */
export function soughtIn(claim: string): Sought[] {
  const quotations = quotationsIn(claim)
    .filter(({ text }) => (text.replace(GAP, " ").match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= LEAST_QUOTED)
    .map((said) => ({ kind: "quotation" as const, ...said }));
  const numbers = saidIn(claim).filter(
    (said) =>
      !(said.kind === "number" && said.isWord && said.values.every((value) => value <= LARGEST_WORD)) &&
      !isReference(said, claim) &&
      // What stands in a quotation is looked for with it.
      !quotations.some(({ start, end }) => start <= said.start && said.end <= end),
  );
  return [...quotations, ...numbers];
}

/** Whether a number says nothing, but names a part of a text or a work. */
function isReference({ start, end, text, kind }: Said, claim: string): boolean {
  const before = claim.slice(Math.max(0, start - 80), start);
  if (ACCESSED.test(before)) return true;
  if (kind === "date" || !/^\d+(?:\.\d+)*$/.test(text)) return false;
  if (NUMBERED.test(before) || (text.length < 4 && COUNTED.test(before))) return true;
  if (text.length === 4) return BEHIND_WORK.test(claim.slice(end, end + 12)) && WORK.test(before);
  return text.length < 3 && claim[end] === ")" && LISTED.test(before);
}

/** A page that a sentence cites: its content, or why there is none. */
export interface CitedPage {
  entry: Pick<CheckedPage, "state" | "reason">;
  content?: PageContent;
}

/**
 * Holds a sentence against the pages that it cites. `language`: of the report, for a sentence that is too short to tell
 * its own; `over`: the name of its field or the heads of its columns, whose words and units are its own, too. In doubt the verdict is the milder one.
 */
export function judge(
  claim: string,
  pages: readonly CitedPage[],
  language: string | undefined,
  over = "",
): Judged {
  const contents = pages.flatMap(({ content }) => content ?? []);
  const own = languageOf(claim) ?? language;
  const stands = (one: Sought) => contents.some((content) => content.passagesOf(one, over).size > 0);
  const isNamed = ({ start, text }: Sought) => /^\d{1,3}$/.test(text) && NAME.test(claim.slice(0, start));
  const sought = soughtIn(claim).filter((one) => !isNamed(one) || stands(one));
  const judged =
    sought.length > 0 ? judgeSought(claim, sought, contents, { own, over }) : judgeWords(claim, contents);
  if (judged.verdict === "found" || judged.reason === HAS_WORDS) return judged;
  const entries = pages.map(({ entry }) => entry);
  const isOn = judged.verdict === "unchecked" && sought.length > 0;
  const worse =
    entries.find(({ state }) => state === "unreadable") ??
    entries.find(({ state }) => state === "gone" && !isOn);
  return worse && worse.state !== "read" ? verdict(worse.state, worse.reason) : judged;
}

const HAS_WORDS = "it has no number, date or quotation to look for";

/** A sentence with nothing to look for but its words. */
function judgeWords(claim: string, contents: readonly PageContent[]): Judged {
  const claimWords = contentWords(claim);
  const isOn = ({ allWords }: PageContent) =>
    claimWords.filter((word) => allWords().includes(word)).length >= LEAST_SHARED * claimWords.length;
  const isAbout = claimWords.length > 0 && contents.some(isOn);
  return verdict("unchecked", isAbout ? HAS_WORDS : "it has nothing that can be looked for");
}

function judgeSought(
  claim: string,
  sought: readonly Sought[],
  contents: readonly PageContent[],
  { own, over }: { own: string | undefined; over: string },
): Judged {
  const isForeign = ({ language }: PageContent) =>
    own !== undefined && language !== undefined && own !== language;
  const places = sought.map((one) => contents.map((content) => content.passagesOf(one, over)));
  const confirmed = sought.map((one, i) => {
    if (places[i]?.every(({ size }) => size === 0)) return undefined;
    const context = contentWords(`${claim.slice(0, one.start)} ${claim.slice(one.end)} ${over}`);
    for (const [nth, content] of contents.entries())
      for (const passage of places[i]?.[nth] ?? []) {
        const stands =
          one.kind === "quotation" ||
          isForeign(content) ||
          context.some((word) => content.wordsOf(passage).includes(word)) ||
          places.some((other, j) => j !== i && other[nth]?.has(passage));
        const text = stands ? content.passages[passage]?.text : undefined;
        if (text !== undefined) return excerpt(text, one.text);
      }
    return undefined;
  });
  const passage = confirmed.find((text) => text !== undefined) ?? null;
  if (confirmed.every((text) => text !== undefined)) return verdict("found", null, passage);
  const missing = sought.filter((_, i) => places[i]?.every(({ size }) => size === 0));
  if (missing.length === 0) return verdict("unchecked", "it stands on the page, but only elsewhere", passage);
  if (contents.some(({ isCut }) => isCut))
    return verdict("unchecked", "only the beginning of the page was read", passage);
  const counted = missing.filter((one) => !(one.kind === "quotation" && contents.some(isForeign)));
  if (counted.length === 0)
    return verdict("unchecked", "the page is in another language than the quotation", passage);
  return { ...verdict("missing", null, passage), missing: counted.map(({ text }) => text) };
}

/** A long passage is shown around what was found in it, in characters. */
const SHOWN = 400;

function excerpt(text: string, found: string): string {
  const flat = onOneLine(text);
  if (flat.length <= SHOWN) return flat;
  const from = Math.max(0, Math.min(flat.indexOf(found) - SHOWN / 2, flat.length - SHOWN));
  return `${from > 0 ? "…" : ""}${flat.slice(from, from + SHOWN)}${from + SHOWN < flat.length ? "…" : ""}`;
}

function verdict(name: Verdict, reason: string | null, passage: string | null = null): Judged {
  return { verdict: name, missing: [], reason, passage };
}

/**
 * The words of a text that say what it is about, each once, as their beginnings: "generates" and "generation" are one,
 * also in languages of which no stems are known, and a long one may stand inside a compound. Numbers are looked for by
 * themselves.
 */
function contentWords(text: string): string[] {
  const letters = words(text).filter((word) => /\p{L}/u.test(word));
  return [...new Set(letters.map((word) => (word.length < 5 ? ` ${word} ` : word.slice(0, 6))))];
}
