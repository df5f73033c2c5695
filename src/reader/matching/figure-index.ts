import { hashOf, Places, Postings } from "../../core/postings.js";
import type { Vocabulary } from "../languages/languages.js";
import { forVocabulary, IN_WORD, lowerCase, matchesIn, oneOf } from "../languages/patterns.js";
import { type CalendarDate, findMonths, inFull, withoutDates } from "./dates.js";
import {
  type Figure,
  findFactors,
  findFigures,
  multiply,
  powerPattern,
  type Quantity,
  type Reading,
  readWords,
} from "./numbers.js";
import { amountsOf, measureOf, ORDER, otherUnits, type Unit, unitNames } from "./units.js";

/**
 * How far a number that is given without a bound may be rounded: "written" as it is written (46,000 for 46,321), "decimals" by
 * its decimals alone (14 for 14.3).
 */
export type Rounding = "written" | "decimals";

/**
 * What a figure states, as an amount in a measure. Measures are the kinds of units, in their smallest unit, and of money the
 * currencies; "" for numbers without a unit, "*" for the digits of those with one, "=km" for those with that one; "code" for
 * hashes of codes; "date" for dates, and "day" for those whose year stands elsewhere.
 */
type Form = readonly [measure: string, value: number];

/** A figure of a sentence is met by an amount between these, unless one of `unless` stands there, too. */
interface Sought {
  measure: string;
  least: number;
  most: number;
  unless?: readonly Sought[];
}

/** Two amounts that differ by less than this share of them are one: units are converted in floating point. */
const EPSILON = 1e-9;
/**
 * How much a number may be rounded as a share of what it stands for: in silence about 3 %, so that 1.2 GB are 1,242 MB, and
 * after "about" and the like 10 % (contract §11).
 */
const MOST_ROUNDED = 0.035;
const MOST_BOUNDED = 0.1;
/** A number of thousands with so many zeros at its end may be rounded to them. */
const ROUND_ZEROS = 2;
const THOUSAND = 1_000;
/** A bare number up to this may be a year, which is never rounded. */
const LATEST_YEAR = 2_100;
/** What a bound leaves open: "more than 1,000" is said of 1,450. */
const MOST_OPEN = 2;

/** Digits in a word, as in `SHA256` and `TLSv1.3`: a sentence may write `SHA-256` and `TLS 1.3`. */
const DIGITS_IN_WORD = /(?<=\p{L})\d+(?:\.\d+)?/gu;
/** What a page says once of the numbers of its tables: `(in thousands)`. */
const SCALE = /(?:\bin |\()(?:[$€£]|[A-Z]{3} )?\p{L}+/gu;
const RATIO = /^(?: (?:to|zu) |[-–])$/;
/** Years without their century: `FY24`, `3Q24`, `Q3-14`, `'24`. */
const SHORT_YEAR = /\d\d(?!\d)(?<=(?:(?:FY|[1-4]Q|[12]H|Q[1-4]|H[12])[ '’-]?|(?<!\d)['’])\d\d)/giu;

const patterns = forVocabulary((vocabulary) => {
  const parts = new Map(vocabulary.entries("fractions").map(([word, part]) => [word, 1 / Number(part)]));
  const ones = oneOf(vocabulary.list("ones").filter((word) => word !== "-"));
  const power = powerPattern(vocabulary);
  return {
    parts,
    /** `two thirds`, `half a million`. */
    fraction: new RegExp(
      `(?<!${IN_WORD})(?:(${ones})[ -])?(${oneOf(parts.keys())})(?:[ -](?:an? )?(${power}))?(?!${IN_WORD})`,
      "g",
    ),
    /** A power without digits before it, as in `a million` and `per million`. */
    alone: new RegExp(`(?:(?<!${IN_WORD})(?:per|pro|je|an?|eine[rn]?|une?)\\s|/\\s?)(${power})`, "g"),
    outOf: new RegExp(`^(?:/| (?:${IN_WORD}+ )?${oneOf(vocabulary.list("outOf"))} )$`),
    unit: new RegExp(`(?<!${IN_WORD})${unitNames(vocabulary).pattern}(?!${IN_WORD})`, "g"),
  };
});

/** What stands over a passage or a sentence, and what that makes of its numbers. */
interface Head {
  text: string;
  units: readonly Unit[];
  factors: readonly number[];
  forms: readonly Form[];
}

function readHead(text: string, vocabulary: Vocabulary): Head {
  const { named } = unitNames(vocabulary);
  const units = matchesIn(patterns(vocabulary).unit, lowerCase(text)).flatMap(
    ({ 0: { length }, index }) => named(text.slice(index, index + length)) ?? [],
  );
  const forms = findFigures(text, vocabulary).flatMap((figure) => formsOf(figure));
  return { text, units, factors: findFactors(text, vocabulary), forms };
}

/** The figures of several passages, in which those of a sentence are looked up. */
export class FigureIndex {
  readonly #forms = new Map<string, Postings>();
  readonly #scales = new Set<number>();
  #head: Head | undefined;

  /** `hasPowers`: whether the words for powers are known; else a number may be a million times what is read of it. */
  constructor(
    readonly vocabulary: Vocabulary,
    private readonly options: { rounding?: Rounding; hasPowers?: boolean } = {},
  ) {}

  /**
   * Adds a passage; places ascend. `over` stands over it, as a heading or the heads of columns: what is said there is said in
   * the passage, and a unit or power that is named there may be that of its numbers.
   */
  add({ text, over = "" }: { text: string; over?: string }, place: number): void {
    const head = this.#readHead(over);
    const forms = new Map(
      [...statementsOf(text, head, this.vocabulary), ...head.forms].map((form) => [form.join(), form]),
    );
    for (const [measure, value] of forms.values()) {
      const postings = this.#forms.get(measure) ?? new Postings();
      this.#forms.set(measure, postings);
      postings.add(value, place);
    }
    for (const [scale] of matchesIn(SCALE, text))
      for (const factor of findFactors(scale, this.vocabulary)) this.#scales.add(factor);
  }

  /** Where a figure stands. `over`: what stands over it, as over a passage. */
  places(figure: Figure, over = ""): Places {
    const { hasPowers = true, rounding = "written" } = this.options;
    const { units, factors } = this.#readHead(over);
    if (figure.kind !== "number") return this.#placesOf(soughtOf(figure, rounding, this.#hasYear(figure)));
    // A page may say once that its numbers are in thousands.
    const scales = figure.factor === 1 ? [] : [...this.#scales, ...(hasPowers ? [] : [figure.factor])];
    const readings = [1, ...factors, ...scales.map((scale) => 1 / scale)].flatMap((factor) =>
      multiply(figure.readings, factor),
    );
    const all = figure.unit ? [figure.unit] : [undefined, ...units];
    return this.#placesOf(
      all.flatMap((unit) => soughtOf({ ...figure, bound: figure.bound, readings, unit }, rounding)),
    );
  }

  /** Where a number stands that a bound leaves open: 1,450 for "more than 1,000". */
  placesBeyond({ readings, unit, bound }: Quantity): Places {
    const [least, most] = bound === "over" ? [1, MOST_OPEN] : [1 / MOST_OPEN, 1];
    const sizes = readings.map(({ value }) => Math.abs(value));
    return this.#placesOf(sizes.flatMap((size) => amountsSought(size * least, size * most, unit)));
  }

  /** Whether the digits of a figure stand there with a unit of another kind, so that they are another amount. */
  hasInOtherUnit(figure: Figure): boolean {
    if (figure.kind !== "number" || figure.unit === undefined) return false;
    const { id } = figure.unit;
    const same = [id, ...otherUnits(figure.unit)].map((unit) => `=${unit}`);
    return figure.readings.some(({ value }) => {
      const count = (measure: string) => this.#forms.get(measure)?.between(Math.abs(value)).count ?? 0;
      return count("*") > same.reduce((sum, measure) => sum + count(measure), 0);
    });
  }

  #readHead(over: string): Head {
    if (this.#head?.text !== over) this.#head = readHead(over, this.vocabulary);
    return this.#head;
  }

  #hasYear(figure: Figure): boolean {
    const years = figure.kind === "date" ? figure.readings.flatMap(({ year }) => year ?? []) : [];
    return years.some((year) => this.#placesOf([{ measure: "", least: year, most: year }]).count > 0);
  }

  #placesOf(sought: readonly Sought[]): Places {
    return Places.join(
      sought.map(({ measure, least, most, unless = [] }) => {
        const places = this.#forms.get(measure)?.between(least, most) ?? new Places();
        return places.count === 0 || unless.length === 0 ? places : places.except(this.#placesOf(unless));
      }),
    );
  }
}

/** All that a passage states. */
function statementsOf(text: string, { units, factors }: Head, vocabulary: Vocabulary): Form[] {
  const { fraction, alone, parts, outOf } = patterns(vocabulary);
  const lower = lowerCase(text);
  const figures = findFigures(text, vocabulary);
  const forms = figures.flatMap((figure, i): Form[] => {
    const next = figures[i + 1];
    if (figure.kind !== "number") return formsOf(figure);
    const scaled = factors.map((factor) => ({ ...figure, readings: multiply(figure.readings, factor) }));
    const pair =
      next?.kind === "number" ? pairForms(figure, next, lower.slice(figure.end, next.start), outOf) : [];
    return [...[figure, ...scaled].flatMap((each) => formsOf(each, units)), ...pair];
  });
  const shares = matchesIn(fraction, lower).flatMap(([, count = "", part = "", power = ""]) => {
    const share = (readWords(count, vocabulary) ?? 1) * (parts.get(part) ?? 1);
    return (power ? findFactors(power, vocabulary) : [1]).flatMap((factor) => shareForms(share * factor));
  });
  const powers = matchesIn(alone, lower).flatMap(([, power = ""]) => findFactors(power, vocabulary));
  const years = matchesIn(SHORT_YEAR, text).map(([year]) => Number(inFull(year)));
  const dates = figures.filter(({ kind }) => kind === "date");
  return [
    ...forms,
    ...shares,
    ...[...powers, ...years].map((value): Form => ["", value]),
    ...matchesIn(DIGITS_IN_WORD, text).map(([digits]): Form => ["name", Number(digits)]),
    ...findMonths(withoutDates(text, dates), vocabulary).map((month): Form => ["day", dateKey({ month })]),
  ];
}

/** What two numbers say together: `one in five`, `3 to 1`. */
function pairForms(first: Quantity, second: Quantity, between: string, outOf: RegExp): Form[] {
  const [part = 0, whole = 1] = [first.readings[0]?.value, second.readings[0]?.value];
  if (outOf.test(between)) return [...shareForms(part / whole), ["", part]];
  return RATIO.test(between) ? codeForms(`${part}:${whole}`) : [];
}

/** A share, and as it is rounded, up or down, to whole percent. */
function shareForms(share: number): Form[] {
  const percent = share < 1 ? [Math.floor(share * 100) / 100, Math.round(share * 100) / 100] : [];
  return [share, ...percent].map((value) => ["", value]);
}

/** What a figure states; `heads`: the units that are named over it. */
function formsOf(figure: Figure, heads: readonly Unit[] = []): Form[] {
  if (figure.kind === "code") return figure.values.flatMap(codeForms);
  if (figure.kind === "date")
    return figure.readings.flatMap((date) => {
      const keys = partsOf(date).map((part): Form => ["date", dateKey(part)]);
      const days = date.year === undefined ? keys.map(([, key]): Form => ["day", key]) : [];
      const numbers = [date.year, figure.isNumeric && date.day === undefined ? date.month : undefined];
      return [
        ...keys,
        ...days,
        ...numbers.flatMap((value): Form[] => (value === undefined ? [] : [["", value]])),
      ];
    });
  const { readings, unit, text, isWord } = figure;
  // "one" is seldom a number.
  if (isWord && readings[0]?.value === 1 && unit === undefined) return [];
  // `1 600` may be two numbers beside one another, and ½ is 1/2.
  const written = text.normalize("NFKD");
  const parts = /\d[ ⁄]\d/.test(written)
    ? (written.match(/\d+/g) ?? []).map((part): Form => ["", Number(part)])
    : [];
  return [
    ...parts,
    ...readings.flatMap(({ value }) => amountForms(value, unit, isWord, heads)),
    ...durationForms(figure),
  ];
}

function amountForms(value: number, unit: Unit | undefined, isWord: boolean, heads: readonly Unit[]): Form[] {
  const size = Math.abs(value);
  const amounts = (unit ? [unit] : heads).flatMap((each) =>
    amountsOf(value, each).map((amount): Form => [measureOf(each), amount]),
  );
  if (unit === undefined) return [["", size], ...amounts];
  return unit === ORDER && isWord ? amounts : [["*", size], [`=${unit.id}`, size], ...amounts];
}

function codeForms(value: string): Form[] {
  const [hours = "", minutes = "", seconds] = value.split(":");
  const isTime = /^\d\d?:\d\d$/.test(value);
  // A port stands behind an address, and an hour before its minutes.
  const parts =
    isTime && minutes !== "00"
      ? []
      : value.split(":").filter((part) => /^\d+$/.test(part) && part !== value && part !== "00");
  // Version 2.14.0 is one of version 2.14.
  const short = /^\d+\.\d+(?=\.)/.exec(value)?.[0];
  return [
    ...[value, ...(seconds === undefined ? [] : [`${hours}:${minutes}`])].map(
      (code): Form => ["code", hashOf(code)],
    ),
    ...[...parts, ...(short ?? [])].map((part): Form => ["", Number(part)]),
    // A film of 2h07 takes 127 minutes.
    ...(isTime ? [["time", (Number(hours) * 60 + Number(minutes)) * 60_000] as const] : []),
  ];
}

/** `3 hours and 5 minutes` as 3:05. */
function durationForms({ readings, unit, text }: Quantity): Form[] {
  const minutes = ((readings.at(-1)?.value ?? 0) * (unit?.factors[0] ?? 0)) / 60_000;
  if (unit?.kind !== "time" || !/\d\D+\d/.test(text) || Math.abs(minutes - Math.round(minutes)) > EPSILON)
    return [];
  const rest = Math.round(minutes) % 60;
  return [["code", hashOf(`${Math.floor(Math.round(minutes) / 60)}:${rest < 10 ? "0" : ""}${rest}`)]];
}

/** By which amounts a figure is met. `hasYear`: its year stands somewhere, so that a date need not repeat it. */
function soughtOf(figure: Figure, rounding: Rounding, hasYear = false): Sought[] {
  const exactly = (measure: string, value: number): Sought => ({ measure, least: value, most: value });
  if (figure.kind === "date")
    return figure.readings.flatMap(({ year, month, day }) => [
      exactly("date", dateKey({ year, month, day })),
      ...(hasYear ? [exactly("day", dateKey({ month, day }))] : []),
    ]);
  if (figure.kind === "code")
    return figure.values.flatMap((value) => {
      const [, hour = "", minute = ""] = /^(\d\d?):(\d\d)$/.exec(value) ?? [];
      const time = (Number(hour) * 60 + Number(minute)) * 60_000;
      // `14:00` is 14 o'clock, and a duration of 1:30 takes 90 minutes.
      const others =
        hour === "" ? [] : [exactly("time", time), ...(minute === "00" ? [exactly("", Number(hour))] : [])];
      return [exactly("code", hashOf(value)), ...others];
    });
  const { unit, bound } = figure;
  return figure.readings.flatMap((reading) => {
    const [least, most] = rangeOf(reading, unit, bound, rounding);
    return amountsSought(least, most, unit, reading.value < 0);
  });
}

/** Where a number from `least` to `most` is looked for. The same digits with another unit are another amount. */
function amountsSought(least: number, most: number, unit: Unit | undefined, isNegative = false): Sought[] {
  const times = (measure: string, factor = 1): Sought => ({
    measure,
    least: least * factor,
    most: most * factor,
  });
  if (unit === undefined)
    return ["", "*", "name"].map((each) => times(each)).concat(most <= 1 ? times("percent", 100) : []);
  if (unit === ORDER) return ["", "order", "name"].map((each) => times(each));
  const [from, to] = isNegative ? [-most, -least] : [least, most];
  const amounts = unit.factors.map((factor) => ({
    measure: measureOf(unit),
    least: from * factor + unit.offset,
    most: to * factor + unit.offset,
  }));
  // A share of 0.9 is 90 %, and 0.9 dollars are 90 cents.
  const shares =
    unit.kind === "percent"
      ? [times("", 0.01)]
      : unit.id === "cent"
        ? ["", ...otherUnits(unit)].map((each) => times(each, 0.01))
        : unit.kind === "money" && most <= 1
          ? [times("=cent", 100)]
          : [];
  const others = otherUnits(unit).map((id) => times(`=${id}`));
  return [{ ...times(""), unless: others }, times(`=${unit.id}`), ...amounts, ...shares];
}

/** Between which numbers one lies that may be written as `reading`, without its sign. */
function rangeOf(
  { value, step, zeros }: Reading,
  unit: Unit | undefined,
  bound: Quantity["bound"],
  rounding: Rounding,
): [least: number, most: number] {
  const size = Math.abs(value);
  const isSilent = bound === "plain" || bound === "loose";
  const isYear = unit === undefined && step === 1 && size >= THOUSAND && size < LATEST_YEAR;
  if (isSilent && isYear) return [size, size];
  const isRound = rounding === "written" && zeros >= ROUND_ZEROS && size >= THOUSAND;
  const place = step * 10 ** (isSilent && !isRound ? 0 : zeros);
  // A last 5, as in "about 3,500", may also stand for steps of five.
  const steps = bound === "about" && Math.round(size / place) % 10 === 5 ? 5 : 1;
  const below = bound === "over" ? 0 : bound === "under" ? place : (steps * place) / 2;
  const above = bound === "under" ? 0 : bound === "over" ? place * (1 - EPSILON) : (steps * place) / 2;
  const share = isSilent ? MOST_ROUNDED : MOST_BOUNDED;
  return [
    Math.max(size - below, size / (1 + share)) * (1 - EPSILON),
    Math.min(size + above, size / (1 - share)) * (1 + EPSILON),
  ];
}

/** The parts of a date by which it is looked up: 4 July 2024 is also July 2024, 4 July, and July. */
function partsOf({ year, month, day }: CalendarDate): CalendarDate[] {
  const years = year === undefined ? [undefined] : [year, undefined];
  const days = day === undefined ? [undefined] : [day, undefined];
  return years.flatMap((y) => days.map((d) => ({ year: y, month, day: d })));
}

function dateKey({ year = 0, month, day = 0 }: Partial<CalendarDate> & { month: number }): number {
  return year * 10_000 + month * 100 + day;
}
