import { NO_PLACES, PostingsList } from "../../core/inverted-index.js";
import { canBeReworded, findCheckableItems, type Sought } from "../checking/judge-sentence.js";
import { cacheByVocabulary, lowerCase } from "../languages/patterns.js";
import { detectLanguage, getVocabulary, type Vocabulary } from "../languages/vocabulary.js";
import { FigureIndex } from "../matching/figure-index.js";
import { type Figure, findFigures } from "../matching/numbers.js";
import { QuotableText } from "../matching/quotations.js";
import { findNames, listContentKeys } from "../matching/words.js";

/** A sentence, list item, row or field of a report. `over`: the column titles of a row, else empty. */
export interface ComparedSentence {
  text: string;
  over: string;
}

/**
 * How the other report relates to a sentence. "same": it states the same. "open": it may state the same. "absent": it does not
 * state it. "changed": it states another figure, in the sentence with the index `other`. "none": the sentence has no number,
 * date or quotation to compare.
 */
export type Relation = { kind: "same" | "open" | "absent" | "none" } | { kind: "changed"; other: number };

/** Matches a word in lower case. A capitalized word at the beginning of a sentence is not a name if it also occurs like this. */
const PLAIN_WORD = /(?<![\p{L}\p{N}])\p{Ll}[\p{L}\p{M}]*/gu;
/** The weight of words above a sentence and in the sentence before it, relative to the sentence's own words. */
const CONTEXT = 0.4;
/** The weight of a word that only one of the reports has, relative to a word that both have. */
const UNKNOWN = 0.5;
/**
 * How much each shared figure adds to the likeness of two sentences. A common number adds only COMMON, except between reports
 * in two languages, which share few words.
 */
const FIGURE = 0.3;
const COMMON = 0.1;
/** The least likeness of two sentences that may be about the same thing, without the figure that is looked for. */
const LEAST_ALIKE = 0.1;
/** The likeness from which sentences with different figures conflict. Each sign that a figure is nowhere else lowers it by SIGN. */
const CONFLICT = 0.7;
const SIGN = 0.1;
/** The most places that are examined for a sentence, and the most sentences that are compared with it. */
const MOST_PLACES = 120;
const MOST_NEAR = 8;
/** The most places for which the form of a figure is recorded. */
const MOST_FORMS = 16;
/** The most figures of a sentence that are compared, since a sentence may be a list of thousands. */
const MOST_SOUGHT = 40;
/** The largest difference of two figures that may be roundings of each other, as a share of the larger. */
const MOST_APART = 0.1;
/** Smaller whole numbers occur in any report by chance, as do years. */
const LEAST_RARE = 100;

/**
 * Whether the other report has a figure. "rare": yes, and the figure is not a common number. For a common number: "near" if a
 * similar sentence has it, "elsewhere" if only others do. "open": not found, but it may be stated in other words. "absent": no.
 */
type State = "rare" | "near" | "elsewhere" | "open" | "absent";
const DOUBT: Record<State, number> = { rare: 0, near: 0, elsewhere: 1, open: 1, absent: 2 };

/** A figure, date or quotation of a statement. */
interface Item {
  sought: Sought;
  /** What the item measures; "" for a number without a unit. */
  kind: string;
  /** The possible sizes of the item. `factor`: how many base units its unit has; undefined without a unit. */
  sizes: readonly number[];
  factor: number | undefined;
  /** The item's places in the other report, and the statements there that have it in another form. */
  places: PostingsList;
  back: number[];
  state: State;
}

interface Statement {
  /** The index of the sentence in its report. */
  place: number;
  text: string;
  over: string;
  figures: readonly Figure[];
  items: readonly Item[];
  /** The weight of each own word (1) and each word of the context (CONTEXT), by id; and their sum, weighted by rarity. */
  words: ReadonlyMap<number, number>;
  weight: number;
  /** Whether the other report has the same text. */
  isShared: boolean;
  /** The most similar statements of the other report, in descending order; empty if `isShared`. */
  near: Pair[];
}

/** What is read in a text, once for all sentences with this text in both reports. */
interface TextReading {
  figures: readonly Figure[];
  sought: readonly Sought[];
  words: readonly number[];
}

/** Two statements. `likeness` is by their words alone; `score` also counts shared figures. */
interface Pair {
  from: number;
  to: number;
  likeness: number;
  score: number;
  /** Whether the statements share a rare figure or a word of their own, and not only context and common numbers. */
  isAbout: boolean;
}

/** Compares two reports. Returns for each sentence of both how the other report relates to it. Takes linear time. */
export function relateSentences(
  first: readonly ComparedSentence[],
  second: readonly ComparedSentence[],
): [Relation[], Relation[]] {
  const [a, b] = [first, second].map((all) => detectLanguage(all.map(({ text }) => text).join("\n")));
  const isForeign = a !== undefined && b !== undefined && a !== b;
  const ids = new Map<string, number>();
  const readings = cacheByVocabulary((vocabulary) => createTextReader(vocabulary, ids));
  const left = new ReportSide(first, second, getVocabulary(a, b), readings, isForeign);
  const right = new ReportSide(second, first, getVocabulary(b, a), readings, isForeign);
  const total = left.statements.length + right.statements.length;
  const weights = Array.from({ length: ids.size }, (_, id) => {
    const [x, y] = [left.countPlaces(id), right.countPlaces(id)];
    return Math.log(1 + total / (x + y)) * (x > 0 && y > 0 ? 1 : UNKNOWN);
  });
  left.findPlaces(right);
  right.findPlaces(left);
  for (const side of [left, right]) side.weigh(weights);
  left.findNear(right, weights);
  right.findNear(left, weights);
  left.findBounded(right);
  right.findBounded(left);
  for (const side of [left, right]) side.decideStates();
  const texts = [...first, ...second].map(({ text }) => text);
  const hasOtherNames = isForeign ? () => false : createNameCheck(texts, a);
  const conflicts = left.statements.flatMap((x) =>
    x.near.filter((pair) => {
      const y = right.statements[pair.to] as Statement;
      return isConflictingPair(pair, x, y) && !hasOtherNames(x, y);
    }),
  );
  const [changed, back] = [new Map<number, number>(), new Map<number, number>()];
  for (const { from, to } of conflicts.sort((p, q) => q.score - p.score))
    if (!changed.has(from) && !back.has(to)) {
      changed.set(from, to);
      back.set(to, from);
    }
  return [left.listRelations(changed), right.listRelations(back)];
}

/** Returns a function that reads texts and remembers what it read. `ids` numbers the words. */
function createTextReader(vocabulary: Vocabulary, ids: Map<string, number>): (text: string) => TextReading {
  const frequent = new Set(vocabulary.list("frequent"));
  const readings = new Map<string, TextReading>();
  const getId = (word: string) => {
    const id = ids.get(word) ?? ids.size;
    if (id === ids.size) ids.set(word, id);
    return id;
  };
  return (text) => {
    const earlier = readings.get(text);
    if (earlier) return earlier;
    const figures = findFigures(text, vocabulary);
    const sought = findCheckableItems(text, vocabulary, figures).slice(0, MOST_SOUGHT);
    const words = listContentKeys(text, (word) => frequent.has(word)).map(getId);
    const reading = { figures, sought, words };
    readings.set(text, reading);
    return reading;
  };
}

/** A report, in which the statements of the other report are looked up. */
class ReportSide {
  readonly statements: Statement[];
  /** For each word, by id, the places that have it: 2 × place, plus 1 if the word is the sentence's own and not of its context. */
  readonly #words: number[][] = [];
  readonly #common: number;
  #figures: FigureIndex | undefined;
  #quotable: QuotableText | undefined;

  constructor(
    sentences: readonly ComparedSentence[],
    others: readonly ComparedSentence[],
    private readonly vocabulary: Vocabulary,
    readText: (vocabulary: Vocabulary) => (text: string) => TextReading,
    private readonly isForeign: boolean,
  ) {
    this.#common = isForeign ? FIGURE : COMMON;
    const read = readText(vocabulary);
    const texts = new Set(others.map(({ text }) => text));
    let before: readonly number[] = [];
    this.statements = sentences.map(({ text, over }, place): Statement => {
      const { figures, sought, words: ownWords } = read(text);
      const words = new Map<number, number>();
      for (const word of before) words.set(word, CONTEXT);
      if (over !== "") for (const word of read(over).words) words.set(word, CONTEXT);
      for (const word of ownWords) words.set(word, 1);
      before = ownWords;
      for (const [word, share] of words) {
        this.#words[word] ??= [];
        this.#words[word]?.push(2 * place + (share === 1 ? 1 : 0));
      }
      // The first cell of a row is a title for the other cells.
      const heads = `${over}\n${/^[^|]*(?= \| )/.exec(text)?.[0] ?? ""}`;
      const items = sought.map(buildItem);
      const isShared = texts.has(text);
      return { place, text, over: heads, figures, items, words, weight: 0, isShared, near: [] };
    });
  }

  /** Returns the number of places that have a word. */
  countPlaces(word: number): number {
    return this.#words[word]?.length ?? 0;
  }

  /** Looks up the items of all statements in the other report. */
  findPlaces(other: ReportSide): void {
    // Items of shared statements are only looked up for the sake of statements that are not shared.
    const hasNews = other.statements.some(({ isShared, items }) => !isShared && items.length > 0);
    for (const { items, over, place, isShared } of this.statements)
      for (const item of isShared && !hasNews ? [] : items) {
        item.places = other.#findPlaces(item.sought, over);
        for (const to of item.places.listFirst(MOST_FORMS)) {
          const statement = other.statements[to] as Statement;
          const back = statement.isShared ? undefined : findNearestSize(statement.items, item)?.back;
          if (back && back.length < MOST_FORMS) back.push(place);
        }
      }
  }

  weigh(weights: readonly number[]): void {
    for (const statement of this.statements)
      for (const [word, share] of statement.words) statement.weight += share * (weights[word] ?? 0);
  }

  /** Finds the most similar statements of the other report, by words and shared figures. */
  findNear(other: ReportSide, weights: readonly number[]): void {
    // These are indexed by statements of the other report, and empty again after each statement of this one.
    const size = other.statements.length;
    const [likeness, shared] = [new Float64Array(size), new Float64Array(size)];
    const isAbout = new Uint8Array(size);
    for (const x of this.statements) {
      if (x.items.length === 0 || x.isShared) continue;
      const candidates = new Set<number>();
      const words = Array.from(x.words, ([word, share]) => {
        return { weight: weights[word] ?? 0, share, places: other.#words[word] ?? [] };
      });
      let left = MOST_PLACES;
      for (const { weight, share, places } of words.sort((p, q) => p.places.length - q.places.length)) {
        const count = Math.min(left, places.length);
        left -= count;
        for (let i = 0; i < count; i++) {
          const entry = places[i] ?? 0;
          const to = entry >> 1;
          const both = entry % 2 === 1 ? share : CONTEXT;
          const whole = x.weight + (other.statements[to]?.weight ?? 0);
          candidates.add(to);
          likeness[to] = (likeness[to] ?? 0) + (2 * both * weight) / Math.max(1e-9, whole);
          if (both === 1) isAbout[to] = 1;
        }
      }
      for (const { sought, places, back } of x.items)
        for (const to of new Set([...places.listFirst(MOST_FORMS), ...back])) {
          candidates.add(to);
          shared[to] = (shared[to] ?? 0) + (isCommonNumber(sought) ? this.#common : FIGURE);
          if (this.isForeign || !isCommonNumber(sought)) isAbout[to] = 1;
        }
      const pairs: Pair[] = [];
      for (const to of candidates) {
        const alike = likeness[to] ?? 0;
        const score = (shared[to] ?? 0) + alike;
        const isRelated = isAbout[to] === 1 && (this.isForeign || alike >= LEAST_ALIKE);
        if (isRelated || score >= LEAST_ALIKE)
          pairs.push({ from: x.place, to, likeness: alike, score, isAbout: isRelated });
        likeness[to] = 0;
        shared[to] = 0;
        isAbout[to] = 0;
      }
      x.near = pairs.sort((p, q) => q.score - p.score).slice(0, MOST_NEAR);
    }
  }

  /** Links a bound that the other report lacks with a number within it in a similar statement, such as "more than 1,000" with 1,450. */
  findBounded(other: ReportSide): void {
    for (const { items, near, place } of this.statements)
      for (const item of items) {
        const { sought } = item;
        const hasBound = sought.kind === "number" && (sought.bound === "over" || sought.bound === "under");
        if (!hasBound || isInOtherReport(item)) continue;
        const within = other.#indexFigures().findPlaces(sought, "", "open");
        const pair = near.find(({ to, isAbout }) => isAbout && within.has(to));
        if (!pair) continue;
        item.places = PostingsList.fromPlace(pair.to);
        findNearestSize(other.statements[pair.to]?.items ?? [], item, 1)?.back.push(place);
      }
  }

  /** Decides the state of all items. */
  decideStates(): void {
    for (const { items, near, text, isShared } of this.statements)
      for (const item of isShared ? [] : items) {
        const isNear = near.some(
          ({ to, score }) => score - this.#common >= LEAST_ALIKE && isItemInStatement(item, to),
        );
        const there = !isCommonNumber(item.sought) ? "rare" : isNear ? "near" : "elsewhere";
        const gone = canBeReworded(item.sought, text, this.isForeign) ? "open" : "absent";
        item.state = isInOtherReport(item) ? there : gone;
      }
  }

  /** Returns how the other report relates to each statement. `changed` maps statements to the conflicting ones there. */
  listRelations(changed: ReadonlyMap<number, number>): Relation[] {
    return this.statements.map(({ items }, i): Relation => {
      const other = changed.get(i);
      if (other !== undefined) return { kind: "changed", other };
      if (items.length === 0) return { kind: "none" };
      const hasState = (wanted: State) => items.some(({ state }) => state === wanted);
      const absent = items.filter(({ state }) => state === "absent");
      // The other report need not repeat the year of a date.
      const isGone =
        absent.length > 0
          ? !hasState("rare") || absent.some(({ kind, sought }) => kind !== "date" || sought.kind === "date")
          : !this.isForeign && !hasState("rare") && hasState("elsewhere");
      const isOpen = items.some(({ state }) => DOUBT[state] > 0);
      return { kind: isGone ? "absent" : isOpen ? "open" : "same" };
    });
  }

  #findPlaces(sought: Sought, over: string): PostingsList {
    if (sought.kind !== "quotation") return this.#indexFigures().findPlaces(sought, over);
    if (!this.#quotable) {
      this.#quotable = new QuotableText();
      for (const statement of this.statements) this.#quotable.add(statement);
    }
    const place = this.#quotable.findPassage(sought.text);
    return place === undefined ? NO_PLACES : PostingsList.fromPlace(place);
  }

  #indexFigures(): FigureIndex {
    if (!this.#figures) {
      this.#figures = new FigureIndex(this.vocabulary, "decimals");
      for (const statement of this.statements) this.#figures.add(statement, statement.place);
    }
    return this.#figures;
  }
}

/** Returns whether the other report has an item, in the form of either report. */
function isInOtherReport({ places, back }: Item): boolean {
  return places.count + back.length > 0;
}

function buildItem(sought: Sought): Item {
  const { kind } = sought;
  const open = { sought, places: NO_PLACES, back: [], state: "rare" } as const;
  const item: Item = { ...open, kind, back: [], sizes: [], factor: undefined };
  // Use sizes that are far apart, because two different months are never near each other.
  if (kind === "date") return { ...item, sizes: sought.readings.map(({ month }) => 2 ** month) };
  if (kind !== "number") return item;
  const { readings, unit, text } = sought;
  const measure = /^(?:19|20)\d\d$/.test(text) ? "date" : (unit?.measure ?? "");
  const sizes = readings.map(({ value }) => Math.abs(value));
  return { ...item, sizes, kind: measure, factor: unit?.factors[0] };
}

/** Returns whether statement `to` of the other report has an item, in the form of either report. */
function isItemInStatement({ places, back }: Item, to: number): boolean {
  return places.has(to) || back.includes(to);
}

/** Finds the item that is closest to `item` and differs from it by less than `apart`, as a share of the larger; undefined if none does. */
function findNearestSize(all: readonly Item[], item: Item, apart = MOST_APART): Item | undefined {
  let [nearest, least]: [Item | undefined, number] = [undefined, apart];
  for (const candidate of all) {
    const distance = canCompareItems(candidate, item) ? computeSizeDistance(candidate, item) : 1;
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** Returns the least difference between the sizes of two items, as a share of the larger. */
function computeSizeDistance(first: Item, second: Item): number {
  const { sizes, factor = 1 } = first;
  const scale = second.factor && first.factor ? second.factor / factor : 1;
  let least = sizes.length > 0 && second.sizes.length > 0 ? 1 : 0;
  for (const a of sizes)
    for (const size of second.sizes) {
      const b = size * scale;
      least = Math.min(least, Math.abs(a - b) / Math.max(a, b, 1e-9));
    }
  return least;
}

/** Returns whether two statements conflict: they are about the same thing and state different figures of one kind. */
function isConflictingPair(pair: Pair, x: Statement, y: Statement): boolean {
  const unmet = x.items.filter((item) => !isItemInStatement(item, y.place));
  let signs = -1;
  for (const item of y.items)
    if (!isItemInStatement(item, x.place))
      for (const each of unmet)
        if (canCompareItems(item, each)) signs = Math.max(signs, DOUBT[item.state] + DOUBT[each.state]);
  if (signs < 0 || !pair.isAbout || y.isShared) return false;
  const isSure = signs > DOUBT.absent;
  const areNearest = x.near[0] === pair && y.near[0]?.to === x.place;
  const isEnough = (isSure ? pair.score : pair.likeness) >= CONFLICT - SIGN * signs;
  return isEnough && (isSure || areNearest);
}

/**
 * Returns a function that tells whether two statements are about different things: both have names, but share no word of
 * them. A word that also occurs without a capital letter is not a name.
 */
function createNameCheck(texts: readonly string[], language: string | undefined) {
  const vocabulary = getVocabulary(language);
  const namesByStatement = new Map<Statement, readonly string[]>();
  let plain: ReadonlySet<string> | undefined;
  const listNames = (statement: Statement) => {
    plain ??= new Set([...vocabulary.list("frequent"), ...(texts.join("\n").match(PLAIN_WORD) ?? [])]);
    const names =
      namesByStatement.get(statement) ??
      findNames(statement.text, language, vocabulary)
        .flatMap((name) => lowerCase(name).split(/\s+/))
        .filter((word) => !plain?.has(word));
    namesByStatement.set(statement, names);
    return names;
  };
  return (x: Statement, y: Statement): boolean => {
    const [names, others] = [listNames(x), listNames(y)];
    return names.length > 0 && others.length > 0 && !names.some((name) => others.includes(name));
  };
}

/** Returns whether a number is so common that it may occur in any report by chance. */
function isCommonNumber(sought: Sought): boolean {
  return (
    sought.kind === "number" &&
    sought.readings.every(
      ({ value, step }) => step === 1 && (Math.abs(value) < LEAST_RARE || (value >= 1900 && value < 2100)),
    )
  );
}

/** Returns whether two items may measure the same thing. */
function canCompareItems({ kind: a }: Item, { kind: b }: Item): boolean {
  return a === b || (isAmountKind(a) && isAmountKind(b) && (a === "" || b === ""));
}

function isAmountKind(kind: string): boolean {
  return kind !== "date" && kind !== "code" && kind !== "quotation";
}
