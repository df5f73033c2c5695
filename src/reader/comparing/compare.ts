import { hashOf, NO_PLACES, Places, Postings } from "../../core/postings.js";
import { findSought, type Sought } from "../checking/verdict.js";
import { detectLanguage, getVocabulary, type Vocabulary } from "../languages/languages.js";
import { FigureIndex } from "../matching/figure-index.js";
import { QuotableText } from "../matching/quotations.js";
import { listContentKeys } from "../matching/words.js";

/** A sentence, list item, row or field of a report; `over`: the heads of its columns or the name of its field. */
export interface ComparedSentence {
  text: string;
  over: string;
}

/**
 * How another report relates to a sentence: it states the same; it may state the same ("open"); it lacks it ("absent"); it
 * states another figure ("changed": `other` is the index of that sentence). "none": no number, date or quotation to compare.
 */
export type Relation = { kind: "same" | "open" | "absent" | "none" } | { kind: "changed"; other: number };

/** The weight of words over a sentence and in the sentence before it, as a share of the weight of its own words. */
const CONTEXT = 0.4;
/** The weight of a word that the other report lacks. */
const UNKNOWN = 0.5;
/** How much a shared figure raises the likeness of two sentences. */
const FIGURE = 0.3;
/** The least likeness, without shared figures, of two sentences that may be about one thing. */
const LEAST_ALIKE = 0.1;
/** The likeness from which sentences with different figures conflict; lower for each sign that a figure is nowhere else. */
const CONFLICT = 0.7;
const SIGN = 0.1;
/** The most places that are looked at for a sentence, and the most sentences that are compared with it. */
const MOST_PLACES = 120;
const MOST_NEAR = 8;
/** For how many of the most alike sentences shared figures are looked up. */
const MOST_ALIKE = 12;
/** The most places of a figure for which its form is recorded. */
const MOST_FORMS = 16;
/** The most figures of a sentence that are compared; a sentence may be a list of thousands. */
const MOST_SOUGHT = 40;
/** Two figures may be roundings of each other up to this difference, as a share of the larger. */
const MOST_APART = 0.1;
/** Smaller whole numbers, and years, occur in any report by chance. */
const LEAST_RARE = 100;

/** Where a figure is in the other report: "rare": anywhere; "near": beside other parts of the sentence; "elsewhere"; "absent", or "excused" if it may be. */
type State = "rare" | "near" | "elsewhere" | "excused" | "absent";
const DOUBT: Record<State, number> = { rare: 0, near: 0, elsewhere: 1, excused: 1, absent: 2 };

interface Statement {
  /** The index in its report. */
  place: number;
  text: string;
  over: string;
  sought: readonly Sought[];
  /** The weights of its words and of the words of its context, by their keys. */
  keys: ReadonlyMap<string, number>;
  /** For each of `sought`, its places in the other report, and the statements there that have one of its forms from here. */
  places: readonly Places[];
  back: number[][];
  /** The most similar statements of the other report, the most similar first. */
  near: Pair[];
  states: readonly State[];
}

/** Two statements with their likeness: by their words alone, and with their shared figures. */
interface Pair {
  from: number;
  to: number;
  likeness: number;
  score: number;
  /** Whether they share a word or figure of their own, and not only context. */
  isAbout: boolean;
}

/** The weight of a word, higher for rare words, and the total weight of a statement. */
interface Weights {
  isForeign: boolean;
  weightOf(key: string): number;
  total(statement: Statement): number;
}

/** Compares two reports: returns how each sentence of one relates to the other report. Linear time. */
export function relate(
  first: readonly ComparedSentence[],
  second: readonly ComparedSentence[],
): [Relation[], Relation[]] {
  const [a, b] = [first, second].map((all) => detectLanguage(all.map(({ text }) => text).join("\n")));
  const isForeign = a !== undefined && b !== undefined && a !== b;
  const sides = [new Side(first, getVocabulary(a, b)), new Side(second, getVocabulary(b, a))] as const;
  const [left, other] = sides;
  const weightOf = memoizeNumber((key: string) => {
    const [x, y] = [left, other].map(({ words }) => words.listBetween(hashOf(key)).count) as [number, number];
    const rarity = Math.log(1 + (left.statements.length + other.statements.length) / (x + y));
    return rarity * (x > 0 && y > 0 ? 1 : UNKNOWN);
  });
  const total = memoizeNumber(({ keys }: Statement) =>
    [...keys].reduce((sum, [key, share]) => sum + share * weightOf(key), 0),
  );
  left.findPlaces(other);
  other.findPlaces(left);
  left.findNear(other, { isForeign, weightOf, total });
  other.findNear(left, { isForeign, weightOf, total });
  const conflicts = left.statements.flatMap((x) =>
    x.near.flatMap((pair) => findConflict(pair, left, other) ?? []),
  );
  const [changed, back] = [new Map<number, number>(), new Map<number, number>()];
  for (const { from, to } of conflicts.sort((p, q) => q.score - p.score))
    if (!changed.has(from) && !back.has(to)) {
      changed.set(from, to);
      back.set(to, from);
    }
  return [left.listRelations(changed, isForeign), other.listRelations(back, isForeign)];
}

function memoizeNumber<T>(compute: (key: T) => number): (key: T) => number {
  const all = new Map<T, number>();
  return (key) => {
    const value = all.get(key) ?? compute(key);
    all.set(key, value);
    return value;
  };
}

/** A report in which the statements of another report are looked up. */
class Side {
  readonly statements: Statement[];
  readonly words = new Postings();
  readonly #figures: FigureIndex;
  readonly #quotable = new QuotableText();
  readonly #texts: ReadonlySet<string>;

  constructor(sentences: readonly ComparedSentence[], vocabulary: Vocabulary) {
    this.#figures = new FigureIndex(vocabulary, "decimals");
    const frequent = new Set(vocabulary.list("frequent"));
    const listKeys = (text: string) => listContentKeys(text, (word) => frequent.has(word));
    this.#texts = new Set(sentences.map(({ text }) => text));
    let before: string[] = [];
    this.statements = sentences.map(({ text, over }, place): Statement => {
      const textKeys = listKeys(text);
      const keys = new Map([...before, ...listKeys(over)].map((key) => [key, CONTEXT]));
      for (const key of textKeys) keys.set(key, 1);
      before = textKeys;
      for (const key of keys.keys()) this.words.add(hashOf(key), place);
      // The first cell of a row is a head for the other cells.
      const heads = `${over}\n${/^[^|]*(?= \| )/.exec(text)?.[0] ?? ""}`;
      this.#figures.add({ text, over: heads }, place);
      this.#quotable.add({ text });
      const sought = findSought(text, vocabulary).slice(0, MOST_SOUGHT);
      const back = sought.map(() => []);
      return { ...{ place, text, over: heads, sought, keys, back }, places: [], near: [], states: [] };
    });
  }

  /** Looks up the figures and quotations of its statements in the other report. */
  findPlaces(other: Side): void {
    for (const x of this.statements) {
      x.places = x.sought.map((each) => other.#findPlaces(each, x.over));
      for (const [nth, places] of x.places.entries())
        for (const to of places.listFirst(MOST_FORMS)) {
          const y = other.statements[to] as Statement;
          const back = y.back[findNearest(y.sought, x.sought[nth] as Sought)];
          if (back && back.length < MOST_FORMS) back.push(x.place);
        }
    }
  }

  /** Finds the similar statements of the other report, and which figures they share. */
  findNear(other: Side, { isForeign, weightOf, total }: Weights): void {
    for (const x of this.statements) {
      if (x.sought.length === 0) continue;
      if (other.#texts.has(x.text)) {
        x.states = x.sought.map(() => "rare");
        continue;
      }
      const linked = x.places.flatMap((places) =>
        places.count <= MOST_NEAR ? places.listFirst(MOST_NEAR) : [],
      );
      const shared = new Map([...linked, ...x.back.flat()].map((to) => [to, 0]));
      const links = new Set(shared.keys());
      const about = new Set<number>();
      let left = MOST_PLACES;
      const words = [...x.keys].map(([key, share]) => ({
        key,
        share,
        in: other.words.listBetween(hashOf(key)),
      }));
      for (const { key, share, in: places } of words.sort((p, q) => p.in.count - q.in.count))
        for (const to of places.listFirst(left)) {
          left -= 1;
          const both = Math.min(share, other.statements[to]?.keys.get(key) ?? 0);
          shared.set(to, (shared.get(to) ?? 0) + 2 * both * weightOf(key));
          if (both === 1) about.add(to);
        }
      const pairs = [...shared].map(([to, sum]): Pair => {
        const likeness = sum / Math.max(1e-9, total(x) + total(other.statements[to] as Statement));
        return { from: x.place, to, likeness, score: likeness, isAbout: about.has(to) };
      });
      pairs.sort((p, q) => q.likeness - p.likeness);
      x.near = pairs.filter(({ to }, i) => i < MOST_ALIKE || links.has(to));
      for (const pair of x.near) {
        const met = x.sought.filter((_, nth) => hasFigure(x, nth, pair.to)).length;
        pair.score += FIGURE * met;
        pair.isAbout ||= met > 0;
      }
      x.near = x.near.sort((p, q) => q.score - p.score).slice(0, MOST_NEAR);
      x.states = x.sought.map((_, nth) => other.#decideState(x, nth, isForeign));
    }
  }

  /** Returns the relation of each statement. `changed` maps a statement to the conflicting one in the other report. */
  listRelations(changed: ReadonlyMap<number, number>, isForeign: boolean): Relation[] {
    return this.statements.map(({ sought, states }, i): Relation => {
      const other = changed.get(i);
      if (other !== undefined) return { kind: "changed", other };
      if (sought.length === 0) return { kind: "none" };
      const hasRare = states.includes("rare");
      const absent = sought.filter((_, nth) => states[nth] === "absent");
      // A report need not repeat the year of a date.
      const isGone =
        absent.length > 0
          ? !hasRare || absent.some((each) => each.kind !== "number" || getKind(each) !== "date")
          : !isForeign && !hasRare && states.includes("elsewhere");
      const isOpen = states.some((state) => DOUBT[state] > 0);
      return { kind: isGone ? "absent" : isOpen ? "open" : "same" };
    });
  }

  #findPlaces(sought: Sought, over: string): Places {
    if (sought.kind !== "quotation") return this.#figures.findPlaces(sought, over);
    const place = this.#quotable.findPassage(sought.text);
    return place === undefined ? NO_PLACES : Places.fromPlace(place);
  }

  #decideState(x: Statement, nth: number, isForeign: boolean): State {
    const sought = x.sought[nth] as Sought;
    const isThere = (x.places[nth]?.count ?? 0) + (x.back[nth]?.length ?? 0) > 0;
    const isNear = x.near.some(({ to, score }) => score - FIGURE >= LEAST_ALIKE && hasFigure(x, nth, to));
    if ((isThere || isNear) && !isCommon(sought)) return "rare";
    if (isNear || isThere) return isNear ? "near" : "elsewhere";
    if (sought.kind === "quotation") return isForeign ? "excused" : "absent";
    if (sought.kind !== "number") return "absent";
    if (NAME.test(x.text.slice(0, sought.start)) && /^\d{1,3}$/.test(sought.text)) return "excused";
    if (sought.bound !== "over" && sought.bound !== "under")
      return sought.bound === "loose" ? "excused" : "absent";
    const beyond = this.#figures.findPlacesBeyond(sought);
    return x.near.some(({ to }) => beyond.has(to)) ? "excused" : "absent";
  }
}

/** The text before a number in a name, which another report may write without the number: `COVID-19`. */
const NAME = /\p{L}[-‑]$/u;

/** Whether statement `to` of the other report has a figure or quotation of `from`, in a form of either. */
function hasFigure({ places, back }: Statement, nth: number, to: number): boolean {
  return places[nth]?.has(to) === true || back[nth]?.includes(to) === true;
}

/** Returns the index of the figure of a statement that is a form of `figure`, which was found in it; -1 if there is none. */
function findNearest(all: readonly Sought[], figure: Sought): number {
  let [nearest, least] = [-1, MOST_APART];
  for (const [i, candidate] of all.entries()) {
    const distance = computeDistance(candidate, figure);
    if (distance < least) [nearest, least] = [i, distance];
  }
  return nearest;
}

/** Returns the difference of two figures as a share of the larger; 1 if they are not of one kind. */
function computeDistance(first: Sought, second: Sought): number {
  if (!areAlike(first, second)) return 1;
  if (first.kind === "date" && second.kind === "date")
    return first.readings.some(({ month }) => second.readings.some((date) => date.month === month)) ? 0 : 1;
  if (first.kind !== "number" || second.kind !== "number") return 0;
  const areMeasured = first.unit && second.unit;
  const [as = [], bs = []] = [first, second].map(({ readings, unit }) =>
    readings.map(({ value }) => Math.abs(value) * ((areMeasured && unit?.factors[0]) || 1)),
  );
  return Math.min(...as.flatMap((a) => bs.map((b) => Math.abs(a - b) / Math.max(a, b, 1e-9))));
}

/** Returns the pair if its statements are about one thing and state different figures of one kind. */
function findConflict(pair: Pair, first: Side, second: Side): Pair | undefined {
  const { from, to, likeness, score } = pair;
  const [x, y] = [first.statements[from] as Statement, second.statements[to] as Statement];
  const unmet = listUnmet(x, y);
  let signs = -1;
  for (const each of listUnmet(y, x))
    for (const { sought, doubt } of unmet)
      if (areAlike(sought, each.sought)) signs = Math.max(signs, doubt + each.doubt);
  // `near` is empty if the other report has the statement word for word.
  if (signs < 0 || !pair.isAbout || y.near.length === 0) return undefined;
  const isSure = signs > DOUBT.absent;
  const areNearest = x.near[0] === pair && y.near[0]?.to === from;
  const isEnough = (isSure ? score : likeness) >= CONFLICT - SIGN * signs;
  return isEnough && (isSure || areNearest) ? pair : undefined;
}

/** Lists the items of `x` that `y` lacks. */
function listUnmet(x: Statement, y: Statement) {
  return x.sought.flatMap((sought, nth) =>
    hasFigure(x, nth, y.place) ? [] : { sought, doubt: DOUBT[x.states[nth] ?? "rare"] },
  );
}

/** Whether a number occurs in any report by chance. */
function isCommon(sought: Sought): boolean {
  return (
    sought.kind === "number" &&
    sought.readings.every(
      ({ value, step }) => step === 1 && (Math.abs(value) < LEAST_RARE || (value >= 1900 && value < 2100)),
    )
  );
}

/** Whether two figures may measure the same thing. */
function areAlike(first: Sought, second: Sought): boolean {
  const [a, b] = [getKind(first), getKind(second)];
  const [isNumber, isOtherNumber] = [a, b].map(
    (kind) => kind !== "date" && kind !== "code" && kind !== "quotation",
  );
  return a === b || (isNumber === true && isOtherNumber === true && (a === "" || b === ""));
}

/** Returns what a figure measures; "" for a number without a unit. */
function getKind(sought: Sought): string {
  if (sought.kind !== "number") return sought.kind;
  if (/^(?:19|20)\d\d$/.test(sought.text)) return "date";
  return sought.unit?.measure ?? "";
}
