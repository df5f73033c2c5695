import { hashOf, NO_PLACES, Places, Postings } from "../../core/postings.js";
import { findSought, type Sought } from "../checking/verdict.js";
import { detectLanguage, getVocabulary, type Vocabulary } from "../languages/languages.js";
import { FigureIndex } from "../matching/figure-index.js";
import { QuotableText } from "../matching/quotations.js";
import { measureOf } from "../matching/units.js";
import { listContentKeys } from "../matching/words.js";

/** A sentence, list item, row or field of a report; `over`: the heads of its columns or the name of its field. */
export interface Sentence {
  text: string;
  over: string;
}

/**
 * What another report says of a sentence: the same; what may be the same ("open"); nothing ("absent"); another figure
 * ("changed": `other` is the index of its sentence). "none": it has no number, date or quotation that could be compared.
 */
export type Relation = { kind: "same" | "open" | "absent" | "none" } | { kind: "changed"; other: number };

/** What stands over a sentence, and the sentence before it, count as this share of its own words. */
const CONTEXT = 0.4;
/** A word that the other report never has counts so much. */
const UNKNOWN = 0.5;
/** A figure that two sentences share makes them more alike by so much. */
const FIGURE = 0.3;
/** So much alike are at least two sentences, a shared figure aside, that may be about one thing. */
const LEAST_ALIKE = 0.1;
/** So much alike are two sentences that differ in a figure; less for each sign that the figure is nowhere else. */
const CONFLICT = 0.7;
const SIGN = 0.1;
/** So many places are looked at for a sentence, and so many sentences are compared with it. */
const MOST_PLACES = 120;
const MOST_NEAR = 8;
/** Of so many that are most alike it is looked at whether they share figures. */
const MOST_ALIKE = 12;
/** At so many places of a figure it is noted that its form stands there. */
const MOST_FORMS = 16;
/** So many figures of a sentence are compared, in case it is a list of thousands. */
const MOST_SOUGHT = 40;
/** A figure may be rounded to one that differs from it by this share of the larger. */
const MOST_APART = 0.1;
/** Smaller whole numbers and the numbers of years stand in any report. */
const LEAST_RARE = 100;

/** Where a figure of a sentence stands in the other report: a rare one anywhere, another one beside what else the sentence says, or elsewhere; one that stands nowhere may be excused. */
type State = "rare" | "near" | "elsewhere" | "excused" | "absent";
const DOUBT: Record<State, number> = { rare: 0, near: 0, elsewhere: 1, excused: 1, absent: 2 };

interface Statement {
  /** Its index in its report. */
  place: number;
  text: string;
  over: string;
  sought: readonly Sought[];
  /** Its words and those of its context, by their keys, with how much they count. */
  keys: ReadonlyMap<string, number>;
  /** Where each of `sought` stands in the other report, and the statements there that have a form of it which stands here. */
  places: readonly Places[];
  back: number[][];
  /** The statements there that are most like it, the most alike one first. */
  near: Pair[];
  states: readonly State[];
}

/** Two statements with how much they are alike: by their words, and with the figures of the one that the other has. */
interface Pair {
  from: number;
  to: number;
  likeness: number;
  score: number;
  /** Whether they share a word of their own or a figure, and not only what stands around them. */
  isAbout: boolean;
}

/** How much a word counts, which is the more the rarer it is, and all words of a statement. */
interface Weights {
  isForeign: boolean;
  weightOf(key: string): number;
  total(statement: Statement): number;
}

/** Compares two reports: what each sentence of the one has in the other. Takes time in proportion to their lengths. */
export function relate(first: readonly Sentence[], second: readonly Sentence[]): [Relation[], Relation[]] {
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

/** A report, in which the statements of another one are looked up. */
class Side {
  readonly statements: Statement[];
  readonly words = new Postings();
  readonly #figures: FigureIndex;
  readonly #quotable = new QuotableText();
  readonly #texts: ReadonlySet<string>;

  constructor(sentences: readonly Sentence[], vocabulary: Vocabulary) {
    this.#figures = new FigureIndex(vocabulary, "decimals");
    const frequent = new Set(vocabulary.list("frequent"));
    const listKeys = (text: string) => listContentKeys(text, (word) => frequent.has(word));
    this.#texts = new Set(sentences.map(({ text }) => text));
    let before: string[] = [];
    this.statements = sentences.map(({ text, over }, place): Statement => {
      const own = listKeys(text);
      const keys = new Map([...before, ...listKeys(over)].map((key) => [key, CONTEXT]));
      for (const key of own) keys.set(key, 1);
      before = own;
      for (const key of keys.keys()) this.words.add(hashOf(key), place);
      // The first cell of a row is the head of the others.
      const heads = `${over}\n${/^[^|]*(?= \| )/.exec(text)?.[0] ?? ""}`;
      this.#figures.add({ text, over: heads }, place);
      this.#quotable.add({ text });
      const sought = findSought(text, vocabulary).slice(0, MOST_SOUGHT);
      const back = sought.map(() => []);
      return { ...{ place, text, over: heads, sought, keys, back }, places: [], near: [], states: [] };
    });
  }

  /** Looks up where the figures and quotations of its statements stand in the other report. */
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

  /** Finds the statements of the other report that are like its own, and what of these stands there. */
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

  /** What the other report has of each statement. `changed`: with which statement there it conflicts. */
  listRelations(changed: ReadonlyMap<number, number>, isForeign: boolean): Relation[] {
    return this.statements.map(({ sought, states }, i): Relation => {
      const other = changed.get(i);
      if (other !== undefined) return { kind: "changed", other };
      if (sought.length === 0) return { kind: "none" };
      const hasRare = states.includes("rare");
      const absent = sought.filter((_, nth) => states[nth] === "absent");
      // A report need not repeat the year of what it says.
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

/** What stands before a number that is part of a name, which another report may leave out: `COVID-19`. */
const NAME = /\p{L}[-‑]$/u;

/** Whether statement `to` of the other report has a figure or quotation of `from`, in the form of either of them. */
function hasFigure({ places, back }: Statement, nth: number, to: number): boolean {
  return places[nth]?.has(to) === true || back[nth]?.includes(to) === true;
}

/** Returns the index of the one of a statement's figures that another figure, which was found in it, is a form of; -1 for none. */
function findNearest(all: readonly Sought[], figure: Sought): number {
  let [nearest, least] = [-1, MOST_APART];
  for (const [i, candidate] of all.entries()) {
    const distance = computeDistance(candidate, figure);
    if (distance < least) [nearest, least] = [i, distance];
  }
  return nearest;
}

/** By which share of the larger one two figures differ; 1 if they are not of one kind. */
function computeDistance(one: Sought, other: Sought): number {
  if (!areAlike(one, other)) return 1;
  if (one.kind === "date" && other.kind === "date")
    return one.readings.some(({ month }) => other.readings.some((date) => date.month === month)) ? 0 : 1;
  if (one.kind !== "number" || other.kind !== "number") return 0;
  const areMeasured = one.unit && other.unit;
  const [as = [], bs = []] = [one, other].map(({ readings, unit }) =>
    readings.map(({ value }) => Math.abs(value) * ((areMeasured && unit?.factors[0]) || 1)),
  );
  return Math.min(...as.flatMap((a) => bs.map((b) => Math.abs(a - b) / Math.max(a, b, 1e-9))));
}

/** A pair whose statements are about one thing and state another figure of one kind. */
function findConflict(pair: Pair, one: Side, other: Side): Pair | undefined {
  const { from, to, likeness, score } = pair;
  const [x, y] = [one.statements[from] as Statement, other.statements[to] as Statement];
  const unmet = listUnmet(x, y);
  let signs = -1;
  for (const each of listUnmet(y, x))
    for (const { sought, doubt } of unmet)
      if (areAlike(sought, each.sought)) signs = Math.max(signs, doubt + each.doubt);
  // One that is near to nothing stands there as it is.
  if (signs < 0 || !pair.isAbout || y.near.length === 0) return undefined;
  const isSure = signs > DOUBT.absent;
  const areNearest = x.near[0] === pair && y.near[0]?.to === from;
  const isEnough = (isSure ? score : likeness) >= CONFLICT - SIGN * signs;
  return isEnough && (isSure || areNearest) ? pair : undefined;
}

/** What `x` says and `y` does not. */
function listUnmet(x: Statement, y: Statement) {
  return x.sought.flatMap((sought, nth) =>
    hasFigure(x, nth, y.place) ? [] : { sought, doubt: DOUBT[x.states[nth] ?? "rare"] },
  );
}

/** Whether a number stands in any report, by chance. */
function isCommon(sought: Sought): boolean {
  return (
    sought.kind === "number" &&
    sought.readings.every(
      ({ value, step }) => step === 1 && (Math.abs(value) < LEAST_RARE || (value >= 1900 && value < 2100)),
    )
  );
}

/** Whether two figures may be of one thing. */
function areAlike(one: Sought, other: Sought): boolean {
  const [a, b] = [getKind(one), getKind(other)];
  const [isNumber, isOtherNumber] = [a, b].map(
    (kind) => kind !== "date" && kind !== "code" && kind !== "quotation",
  );
  return a === b || (isNumber === true && isOtherNumber === true && (a === "" || b === ""));
}

/** What a figure measures; "" for a number without a unit. */
function getKind(sought: Sought): string {
  if (sought.kind !== "number") return sought.kind;
  if (/^(?:19|20)\d\d$/.test(sought.text)) return "date";
  return sought.unit ? measureOf(sought.unit) : "";
}
