import { NO_PLACES, PostingsList } from "../../core/inverted-index.js";
import type { CheckedCitation, CheckedPage, Verdict } from "../../core/protocol/check-outcome.js";
import { buildAlternation, cacheByVocabulary, type Token } from "../languages/patterns.js";
import { detectLanguage, getVocabulary, type Vocabulary } from "../languages/vocabulary.js";
import { blankOutDates } from "../matching/dates.js";
import { type Figure, findFigures } from "../matching/numbers.js";
import { findQuotations, isLongQuotation } from "../matching/quotations.js";
import { findNames, listContentKeys } from "../matching/words.js";
import { joinOnOneLine, type PageContent, type PageIndex, type Pause } from "./indexed-page.js";

/** A verdict, with its evidence. */
type VerdictWithEvidence = Pick<CheckedCitation, "verdict" | "missing" | "reason" | "passage">;

/** A page is about a sentence if it has at least this share of the sentence's content words. */
const LEAST_SHARED = 0.2;
/** Number words up to this value are rarely figures, as in "one of the". */
const LARGEST_WORD = 12;
/** A name tells passages apart if at most this share of the passages has it. */
const RARE = 0.25;
/** The most places of a figure that are examined (contract §11). */
const MOST_PLACES = 200;
/** How much of the end of the headings above a passage is searched for a name, in characters. */
const MOST_HEADINGS = 500;
/** A page with less text counts as short, in characters. */
const SHORT_PAGE = 1_000;

/** Matches a number sign, after which up to three digits are a reference. A longer number is a name that the source has as well. */
const COUNTED = /(?:#|\bn[or]\.)\s*$/i;
/** Matches the text before the number of an item within a line: `(1) …; 2) …`. */
const LISTED = /(?:^|[:;,.(])\s?$/;
/** Matches the text before the year of a cited work: `Miller (2019)`, `(World Bank, 2020, p. 14)`, `(Miller 2019; Zhao 2021a)`. */
const WORK =
  /(?:\p{Lu}[\p{L}'’.-]+|\bal\.),? ?[([]$|[([;] ?(?:\p{Ll}+\.?:? )?\p{Lu}[^()[\];]{0,60}\p{L}\.?,? $/u;
const BEHIND_WORK = /^[a-z]?(?:[);\]]|[,:] (?:pp?|S)?\.? ?\d)/;
/** Matches the `COVID-` of `COVID-19`, because a source may leave out the number of such a name. */
const NAME = /\p{L}[-‑]$/u;

const references = cacheByVocabulary((vocabulary) => {
  const between = `\\s*(?:[\\d.]+[a-z]?\\s*(?:[,–&-]|${buildAlternation([...vocabulary.list("and"), ...vocabulary.list("to")])})\\s*)*$`;
  return {
    /** Matches a word such as "page" before a number, or before the second number of a range: `pages 3–7`. */
    numbered: new RegExp(
      `(?:(?<!\\p{L})${buildAlternation(vocabulary.list("references"))}\\.?|§§?)${between}`,
      "iu",
    ),
    /** Matches the words before the day on which a source was accessed. */
    accessed: new RegExp(`${buildAlternation(vocabulary.list("accessed"))}:?(?: \\p{L}{2})?:? $`, "iu"),
    frequent: new Set(vocabulary.list("frequent")),
  };
});

/** A part of a sentence that its source has to contain. */
export type Sought = Figure | (Token & { kind: "quotation" });

/** Finds the numbers, dates and quotations in a sentence that its source has to contain. `all`: all figures of the sentence. */
export function findCheckableItems(
  claim: string,
  vocabulary: Vocabulary,
  all: readonly Figure[] = findFigures(claim, vocabulary),
): Sought[] {
  const quotations = findQuotations(claim)
    .filter(isLongQuotation)
    .map((quotation) => ({ kind: "quotation" as const, ...quotation }));
  const figures = all.filter(
    (figure) =>
      !(
        figure.kind === "number" &&
        figure.isWord &&
        figure.readings.every(({ value }) => value <= LARGEST_WORD)
      ) &&
      !isReferenceNumber(figure, claim, vocabulary) &&
      // A figure inside a quotation is compared as a part of the quotation.
      !quotations.some(({ start, end }) => start <= figure.start && figure.end <= end),
  );
  return [...quotations, ...figures];
}

/** Returns whether a number only refers to a part of a text or to a work, so that the source need not contain it. */
function isReferenceNumber(
  { start, end, text, kind }: Figure,
  claim: string,
  vocabulary: Vocabulary,
): boolean {
  const { numbered, accessed } = references(vocabulary);
  const before = claim.slice(Math.max(0, start - 80), start);
  if (accessed.test(before)) return true;
  if (kind === "date" || !/^\d+(?:\.\d+)*$/.test(text)) return false;
  if (numbered.test(before) || (text.length < 4 && COUNTED.test(before))) return true;
  if (text.length === 4) return BEHIND_WORK.test(claim.slice(end, end + 12)) && WORK.test(before);
  return text.length < 3 && claim[end] === ")" && LISTED.test(before);
}

/** A page that a sentence cites: the content, or why it could not be read. */
export interface CitedPage {
  entry: Pick<CheckedPage, "state" | "reason">;
  content?: PageContent;
}

/** A verdict, and the index of the page that has the passage. */
export interface Judgement extends VerdictWithEvidence {
  page: number | undefined;
}

/** A page that was read, with the places of a sentence's figures, words and names on it. */
interface PageMatch {
  nth: number;
  content: PageContent;
  index: PageIndex;
  /** Whether the page is in another language than the sentence. */
  isForeign: boolean;
  /** The places of each item of `Claim.sought`. */
  places: PostingsList[];
  /** Whether each item is on the page, but only outside its passages. */
  outside: boolean[];
  /** The places of the sentence's content words, by key. */
  words: ReadonlyMap<string, PostingsList>;
  /** The sentence's names that tell passages apart: their places, and the keys of their words. */
  names: { places: PostingsList; keys: readonly string[] }[];
}

/** A sentence, with the items, words and names to look for. */
interface AnalysedClaim {
  text: string;
  over: string;
  language: string | undefined;
  vocabulary: Vocabulary;
  sought: readonly Sought[];
  /** The keys of the content words, and the keys of the words of each name. */
  words: readonly string[];
  names: readonly (readonly string[])[];
}

/**
 * Checks a sentence against the pages that it cites. `language`: that of the report, for a sentence that is too short to
 * detect one. `over`: the path of its field or its column titles, which count as a part of the sentence. In doubt, returns the
 * milder verdict.
 */
export async function judgeSentence(
  text: string,
  pages: readonly CitedPage[],
  language: string | undefined,
  over = "",
  pause: Pause = async () => {},
): Promise<Judgement> {
  const pageLanguage = pages.find(({ content }) => content?.language)?.content?.language;
  const claim = analyseClaim(text, language, over, pageLanguage);
  const read: PageMatch[] = [];
  for (const [nth, { content }] of pages.entries())
    if (content) read.push(await lookUpOnPage(claim, content, nth, pause));
  const best = findBestPassage(claim, read);
  const judged = { ...judgeOnReadPages(claim, read), ...best };
  if (judged.verdict === "found" || judged.reason === HAS_WORDS) return judged;
  const entries = pages.map(({ entry }) => entry);
  const isOn = judged.verdict === "unchecked" && claim.sought.length > 0;
  const worse =
    entries.find(({ state }) => state === "unreadable") ??
    entries.find(({ state }) => state === "gone" && !isOn);
  return worse && worse.state !== "read" ? { ...createVerdict(worse.state, worse.reason), ...best } : judged;
}

/** Finds what a sentence states. If its language cannot be detected, words in the language of the page count as well. */
export function analyseClaim(
  text: string,
  language: string | undefined,
  over: string,
  pageLanguage?: string,
): AnalysedClaim {
  const detected = detectLanguage(text);
  const ownLanguage = detected ?? language;
  const vocabulary = getVocabulary(ownLanguage, language, detected === undefined ? pageLanguage : undefined);
  const { frequent } = references(vocabulary);
  const sought = findCheckableItems(text, vocabulary);
  const bare = blankOutDates(text, sought);
  const names = findNames(bare, ownLanguage, vocabulary);
  const listKeys = (part: string) => listContentKeys(part, (word) => frequent.has(word));
  return {
    ...{ text, over, language: ownLanguage, vocabulary, sought },
    words: listKeys(
      `${blankOutDates(
        text,
        sought.filter(({ kind }) => kind === "date"),
      )} ${over}`,
    ),
    names: [...names.map(listKeys), ...listKeys(over).map((key) => [key])],
  };
}

async function lookUpOnPage(
  claim: AnalysedClaim,
  content: PageContent,
  nth: number,
  pause: Pause,
): Promise<PageMatch> {
  const { sought, over, language } = claim;
  const index = await content.index(language, pause);
  const isQuoted = sought.some(({ kind }) => kind === "quotation");
  const quotable = isQuoted ? await content.getQuotable(pause) : undefined;
  const places = sought.map((item) => {
    if (item.kind !== "quotation") return index.figures.findPlaces(item, over);
    const place = quotable?.findPassage(item.text);
    return place === undefined ? NO_PLACES : PostingsList.fromPlace(place);
  });
  const outside = await Promise.all(
    sought.map(async (item, i) => {
      if ((places[i]?.count ?? 0) > 0) return false;
      if (item.kind === "quotation")
        return (await content.rest.getQuotable(pause)).findPassage(item.text) !== undefined;
      return (await content.rest.index(language, pause)).figures.findPlaces(item, over).count > 0;
    }),
  );
  const most = RARE * content.passages.length;
  const names = claim.names.flatMap((keys) =>
    combineWordPlaces(keys.map((key) => index.findName(key))).flatMap((namePlaces) =>
      namePlaces.count <= most ? { places: namePlaces, keys } : [],
    ),
  );
  const isForeign = language !== undefined && content.language !== undefined && language !== content.language;
  const words = new Map(claim.words.map((key) => [key, index.findWord(key)]));
  return { nth, content, index, isForeign, places, outside, words, names };
}

/** Finds the places with all of a name's words that the page has; if no place has all, the places of each word. */
function combineWordPlaces(placesOfWords: readonly PostingsList[]): PostingsList[] {
  const [rarest, ...others] = placesOfWords
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.count - b.count);
  if (!rarest || others.length === 0 || rarest.count > MOST_PLACES) return rarest ? [rarest] : [];
  const shared = rarest.listFirst(MOST_PLACES).filter((place) => others.every((word) => word.has(place)));
  return shared.length > 0 ? [PostingsList.join(shared.map(PostingsList.fromPlace))] : [rarest, ...others];
}

const HAS_WORDS = "the sentence has no number, date or quotation to look for";
const HAS_NOTHING = `${HAS_WORDS}, and the page has few of its words`;

function judgeOnReadPages(claim: AnalysedClaim, read: readonly PageMatch[]): VerdictWithEvidence {
  const { text, sought } = claim;
  const checked = sought
    .map((item, i) => ({
      ...{ item, support: read.map((page) => decideSupport(claim, i, page)) },
      isInPassage: read.some(({ places }) => (places[i]?.count ?? 0) > 0),
      isOutside: read.some(({ outside }) => outside[i]),
    }))
    .filter(({ item, isInPassage, isOutside }) => isInPassage || isOutside || !isInName(item, text));
  if (checked.length === 0) {
    const isAbout = read.some((page) => page.words.size > 0 && computeWordShare(page) >= LEAST_SHARED);
    return createVerdict("unchecked", isAbout ? HAS_WORDS : HAS_NOTHING);
  }
  const open = checked.filter(({ support }) => !support.includes("supported"));
  const [first] = open;
  if (first === undefined) return createVerdict("found", null);
  const absent = open.filter(({ isInPassage, isOutside }) => !isInPassage && !isOutside);
  if (absent.length === 0) {
    const on = `the ${first.item.kind === "code" ? "number" : first.item.kind} is on the page, but`;
    if (first.support.includes("many"))
      return createVerdict("unchecked", "the number is in too many places on the page");
    if (first.support.includes("far"))
      return createVerdict("unchecked", `${on} far from the names in the sentence`);
    const where = first.isInPassage ? "in a passage about something else" : "outside its main text";
    return createVerdict("unchecked", `${on} ${where}`);
  }
  const cut = read.find(({ content }) => content.cut !== undefined)?.content.cut;
  if (cut !== undefined) return createVerdict("unchecked", cut);
  const excuses = absent.map(({ item }) => explainNotMissing(item, read));
  const missing = absent.flatMap(({ item }, n) => (excuses[n] === undefined ? item.text : []));
  if (missing.length === 0) return createVerdict("unchecked", excuses.find(Boolean) ?? null);
  return read.length > 0 && read.every(isShortOffTopicPage)
    ? createVerdict("unchecked", "the page is short and about something else than the sentence")
    : { ...createVerdict("missing", null), missing };
}

/**
 * Whether an item is on a page in a passage about the sentence. Such a passage has another figure or word of the sentence, and
 * one of the sentence's names is in it or beside it. "far": only far from the names. "elsewhere": only in other passages.
 * "many": at too many places to decide.
 */
type ItemSupport = "supported" | "far" | "elsewhere" | "many";

function decideSupport(claim: AnalysedClaim, i: number, page: PageMatch): ItemSupport {
  const ownPlaces = page.places[i] ?? NO_PLACES;
  const item = claim.sought[i];
  if (item?.kind === "quotation") return ownPlaces.count > 0 ? "supported" : "elsewhere";
  const figures = page.places.filter((_, other) => other !== i);
  const inside = new Set(listContentKeys(item?.text ?? ""));
  const words = [...page.words].flatMap(([key, places]) => (inside.has(key) ? [] : places));
  return decideSupportAt(ownPlaces, [...figures, ...words], page);
}

function decideSupportAt(
  ownPlaces: PostingsList,
  context: readonly PostingsList[],
  { content, names, isForeign }: PageMatch,
): ItemSupport {
  const isRow = (place: number) => content.passages[place]?.isRow === true;
  // Adjacent rows are about different things, and a thing that a heading names is in the section below.
  const isBeside = (place: number, other: number, keys: readonly string[]) => {
    if (isRow(place) && isRow(other)) return false;
    const [subject, otherSubject = ""] = [place, other].map((each) => content.passages[each]?.subject);
    if (subject === otherSubject) return true;
    const headings = listContentKeys(otherSubject.slice(-MOST_HEADINGS));
    return !keys.some((key) => headings.includes(key));
  };
  const isNear = (place: number) =>
    names.length === 0 ||
    names.some(
      ({ places, keys }) =>
        places.has(place) ||
        [place - 1, place + 1].some((other) => places.has(other) && isBeside(place, other, keys)),
    );
  let isFar = false;
  const isSupported = (place: number) => {
    if (!ownPlaces.has(place) || !(isForeign || context.some((other) => other.has(place)))) return false;
    if (isNear(place)) return true;
    isFar = true;
    return false;
  };
  // Begin with the rarest item that is required, so that a number on every page does not take longer.
  const isRare = ownPlaces.count <= MOST_PLACES;
  const reach = isRare || names.length === 0 ? [0] : [0, -1, 1];
  const others = names.length > 0 ? names.map(({ places }) => places) : [ownPlaces, ...context];
  const starts = isRare ? [ownPlaces] : others;
  let left = MOST_PLACES;
  for (const start of starts.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count)) {
    if (start.find(left, (place) => reach.some((step) => isSupported(place + step))) !== undefined)
      return "supported";
    if (start.count > left) return "many";
    left -= start.count;
  }
  return isFar ? "far" : "elsewhere";
}

/** Returns whether a number is a part of a name in the sentence. */
function isInName({ start, text: digits }: Sought, text: string): boolean {
  return /^\d{1,3}$/.test(digits) && NAME.test(text.slice(0, start));
}

/** Returns whether a source may state an item in other words, so that its absence proves nothing. */
export function canBeReworded(item: Sought, text: string, isForeign: boolean): boolean {
  if (item.kind === "quotation") return isForeign;
  return item.kind === "number" && (item.bound === "loose" || isInName(item, text));
}

/** Returns why an item that no page has may still be right; undefined if it counts as missing. */
function explainNotMissing(item: Sought, read: readonly PageMatch[]): string | undefined {
  if (item.kind === "quotation" && read.some(({ isForeign }) => isForeign))
    return "the page is in another language than the quotation";
  if (item.kind === "date" && read.some(({ content }) => !content.isReadable))
    return "the page is in a language whose dates cannot be read";
  if (item.kind === "date" && read.some((page) => hasWeekday(item, page)))
    return "the page may name the day by its weekday";
  if (item.kind !== "number") return undefined;
  if (item.bound === "loose") return "a page may state a difference, a decade or a time ago in other words";
  if ((item.bound !== "over" && item.bound !== "under") || !item.readings.some(isRoundNumber))
    return undefined;
  const isOpen = read.some((page) => {
    const beyond = page.index.figures.findPlaces(item, "", "open");
    return decideSupportAt(beyond, [...page.words.values()], page) === "supported";
  });
  return isOpen ? "the sentence gives a bound, and the page has a number within it" : undefined;
}

const DAY_MS = 86_400_000;

/** Returns whether a page has the weekday of a date and another date within a week of it: news say "on Monday" instead of the date. */
function hasWeekday(date: Sought & { kind: "date" }, { content, index }: PageMatch): boolean {
  return date.readings.some(({ year, month, day }) => {
    if (year === undefined || day === undefined) return false;
    const addDays = (step: number) => new Date(Date.UTC(year, month - 1, day) + step * DAY_MS);
    const weekday = new Intl.DateTimeFormat(content.language ?? "en", { weekday: "long", timeZone: "UTC" });
    const isNamed = listContentKeys(weekday.format(addDays(0))).some((key) => index.findWord(key).count > 0);
    const isNear = (step: number) => {
      const near = addDays(step);
      const parts = { year: near.getUTCFullYear(), month: near.getUTCMonth() + 1, day: near.getUTCDate() };
      return index.figures.findPlaces({ ...date, readings: [parts] }).count > 0;
    };
    return isNamed && [-7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7].some(isNear);
  });
}

/** Returns whether a number has at most two digits before its trailing zeros, as most bounds have. */
function isRoundNumber({ value, step, zeros }: { value: number; step: number; zeros: number }): boolean {
  return Math.abs(value) / (step * 10 ** zeros) < 100;
}

/** Returns whether a page is short and has few of the sentence's words. */
function isShortOffTopicPage(page: PageMatch): boolean {
  const length = page.content.passages.reduce((sum, { text }) => sum + text.length, 0);
  const isShort = length < SHORT_PAGE && !page.isForeign;
  return isShort && page.words.size > 0 && computeWordShare(page) < LEAST_SHARED / 2;
}

/** Returns the share of the sentence's content words that a page has, 0 to 1. */
function computeWordShare({ words }: PageMatch): number {
  const matches = [...words.values()].filter(({ count }) => count > 0).length;
  return matches / Math.max(1, words.size);
}

/** The scores of a passage for each figure, name and word of the sentence that it has. */
const WEIGHTS = { figure: 4, name: 2, word: 1 };
/** The score from which a passage counts as being about the sentence. */
const LEAST_SCORE = 2;

/** Finds the passage with the highest score for the sentence, on any of the pages. */
function findBestPassage(
  claim: AnalysedClaim,
  read: readonly PageMatch[],
): Pick<Judgement, "passage" | "page"> {
  let best = {
    score: LEAST_SCORE - 1,
    text: undefined as string | undefined,
    page: undefined as number | undefined,
  };
  for (const { nth, content, places, words, names } of read) {
    const scores = new Map<number, number>();
    const items = [
      ...places.map((itemPlaces) => ({ itemPlaces, weight: WEIGHTS.figure })),
      ...names.map((name) => ({ itemPlaces: name.places, weight: WEIGHTS.name })),
      ...[...words.values()].map((itemPlaces) => ({ itemPlaces, weight: WEIGHTS.word })),
    ];
    items.sort((a, b) => a.itemPlaces.count - b.itemPlaces.count);
    let left = MOST_PLACES;
    for (const { itemPlaces, weight } of items) {
      itemPlaces.find(left, (place) => {
        scores.set(place, (scores.get(place) ?? 0) + weight);
        return false;
      });
      left -= Math.min(left, itemPlaces.count);
    }
    for (const [place, score] of scores)
      if (score > best.score) best = { score, text: content.passages[place]?.text, page: nth };
  }
  const shown = best.text === undefined ? null : cutPassageExcerpt(best.text, claim.sought);
  return { passage: shown, page: best.page };
}

/** The length of an excerpt from a long passage, in characters. */
const SHOWN = 400;

function cutPassageExcerpt(text: string, sought: readonly Sought[]): string {
  const flat = joinOnOneLine(text);
  if (flat.length <= SHOWN) return flat;
  const at = Math.max(0, ...sought.map((item) => flat.indexOf(item.text)));
  const from = Math.max(0, Math.min(at - SHOWN / 2, flat.length - SHOWN));
  return `${from > 0 ? "…" : ""}${flat.slice(from, from + SHOWN)}${from + SHOWN < flat.length ? "…" : ""}`;
}

function createVerdict(name: Verdict, reason: string | null): VerdictWithEvidence {
  return { verdict: name, missing: [], reason, passage: null };
}
