import { hashText, InvertedIndex, NO_PLACES, PostingsList } from "../../core/inverted-index.js";
import {
  buildAlternation,
  cacheByVocabulary,
  IN_WORD,
  listMatches,
  lowerCase,
} from "../languages/patterns.js";
import type { Vocabulary } from "../languages/vocabulary.js";
import { blankOutDates, type CalendarDate, expandYear, findMonths } from "./dates.js";
import {
  type Bound,
  type Figure,
  findColumnFactors,
  findFigures,
  multiplyReadings,
  type Quantity,
  type Reading,
} from "./numbers.js";
import { convertAmount, listNamesakeUnits, ORDER, type Unit, unitNames } from "./units.js";

/**
 * How a number without a bound may be rounded. "written": to its last written digit (46,000 for 46,321). "decimals": only in
 * its decimals (14 for 14.3). "converted": also to the trailing zeros of a small number (300 km/h for 186 mph). "open": the
 * number of the page may be anywhere within the bound.
 */
export type Rounding = "written" | "decimals" | "converted" | "open";

/**
 * One way to state a figure: an amount in a measure. The measure is a kind of unit (in the smallest unit of that kind) or a
 * currency. "" is a number without a unit, "*" the digits of a number with one, "=km" those of a number in km, "~km" those of
 * a number below a heading with km; "code" the hash of a code; "date" a date, "day" one whose year is elsewhere.
 */
type Form = readonly [measure: string, value: number];

/** The amounts that match a figure of a sentence, from least to most, unless one of the amounts of `listExcluded` is at the same place. */
interface AmountRange {
  measure: string;
  least: number;
  most: number;
  listExcluded?: () => readonly AmountRange[];
}

/** Two amounts are equal if they differ by less than this share, because units are converted in floating point. */
const EPSILON = 1e-11;
/** The largest rounding as a share of the number: 3 % for a plain number (1.2 GB for 1,242 MB), 10 % after "about" (contract §11). */
const MOST_ROUNDED = 0.035;
const MOST_BOUNDED = 0.1;
/** A number with this many trailing zeros may be rounded to them from THOUSAND on, unless it may be a year: below LATEST_YEAR, without a unit. */
const ROUND_ZEROS = 2;
const THOUSAND = 1_000;
const LATEST_YEAR = 2_100;
/** How far a number may exceed a bound, as a factor: 1,450 is still "more than 1,000". */
const MOST_OPEN = 2;
const MINUTE = 60_000;

/** Matches digits in a word such as `SHA256` and `TLSv1.3`, which a sentence may write as `SHA-256` and `TLS 1.3`. */
const DIGITS_IN_WORD = /(?<=\p{L})\d+(?:\.\d+)?/gu;
/** Matches a scale that a page states once for its tables: `(in thousands)`, `(en M€)`. */
const SCALE = /(?:\b(?:in|en) |\((?:(?:in|en) )?)(?:[$€£]|[A-Z]{3} )?[\p{L}$€£]+/gu;
const RATIO = /^(?: (?:to|zu) |[-–])$/;
/** Matches years without a century, as in financial results: `FY24`, `3Q24`, `Q3-14`, `'24`. */
const SHORT_YEAR = /\d\d(?!\d)(?<=(?:(?:FY|[1-4]Q|[12]H|Q[1-4]|H[12])[ '’-]?|(?<!\d)['’])\d\d)/giu;

const patterns = cacheByVocabulary((vocabulary) => ({
  /** Matches the text between the two numbers of a share, such as `one in five`. */
  outOf: new RegExp(`^(?:/| (?:${IN_WORD}+ )?${buildAlternation(vocabulary.list("outOf"))} )$`),
  unit: new RegExp(`(?<!${IN_WORD})${unitNames(vocabulary).pattern}(?!${IN_WORD})`, "g"),
}));

/** The headings above a passage or sentence, with the units and factors that they give to the numbers below. */
interface FigureHeadings {
  text: string;
  units: readonly Unit[];
  factors: readonly number[];
  forms: readonly Form[];
}

/** An index of the figures of several passages, in which the figures of a sentence are looked up. */
export class FigureIndex {
  readonly #forms = new Map<string, InvertedIndex>();
  readonly #scales = new Set<number>();
  #head: FigureHeadings = { text: "", units: [], factors: [], forms: [] };

  /** `hasPowers`: whether words such as "million" in the page's language can be read. If not, a number may be a million times as large. */
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly rounding: Rounding = "written",
    private readonly hasPowers = true,
  ) {}

  /**
   * Adds a passage. Places must ascend. `over` is the heading or the column titles above it: their figures count as figures of the
   * passage, and their units and factors may apply to its numbers. `figures`: those of the text, if they are known.
   */
  add(passage: { text: string; over?: string; figures?: readonly Figure[] }, place: number): void {
    const { text, over = "", figures = findFigures(text, this.vocabulary) } = passage;
    // One cell of a row may contain the unit for the others.
    const [first = "", ...others] = text.split(" | ");
    const cells = others.length > 0 ? [first, ...others] : [];
    const units = cells.filter((cell) => unitNames(this.vocabulary).findUnit(cell));
    const head = this.#readHead([over, ...units].join("\n"));
    for (const form of listStatedForms(text, figures, head, this.vocabulary)) this.#addForm(form, place);
    for (const form of head.forms) this.#addForm(form, place);
    for (const [scale] of listMatches(SCALE, text))
      for (const factor of findColumnFactors(scale, this.vocabulary)) this.#scales.add(factor);
  }

  /** Adds at place 0 an amount that no passage states, such as a sum. */
  addAmount(value: number): void {
    this.#addForm(["", value], 0);
  }

  /** Finds the places of a figure. `over`: the headings above the sentence. With "open", finds 1,450 for "more than 1,000". */
  findPlaces(figure: Figure, over = "", rounding = this.rounding): PostingsList {
    if (figure.kind === "code")
      return this.#findAll(figure.values.flatMap(listCodeForms).map(buildExactRange));
    if (figure.kind === "date") {
      const forms = figure.readings.flatMap(({ year, ...day }): Form[] => [
        ["date", computeDateKey({ year, ...day })],
        // A page that states the year elsewhere need not repeat it with each date.
        ...(year && this.#findAll([buildExactRange(["", year])]).count > 0
          ? [["day", computeDateKey(day)] as const]
          : []),
      ]);
      return this.#findAll(forms.map(buildExactRange));
    }
    const { units, factors } = this.#readHead(over);
    // The page may state once that its numbers are in thousands.
    const scales = figure.factor === 1 ? [] : [...this.#scales, ...(this.hasPowers ? [] : [figure.factor])];
    const readings = [1, ...factors, ...scales.map((scale) => 1 / scale)].flatMap((factor) =>
      multiplyReadings(figure.readings, factor),
    );
    return this.#findAll(
      (figure.unit ? listNamesakeUnits(figure.unit) : [undefined, ...units]).flatMap((unit) =>
        readings.flatMap((reading) => listAmountRanges(reading, unit, figure.bound, rounding)),
      ),
    );
  }

  #addForm([measure, value]: Form, place: number): void {
    const postings = this.#forms.get(measure) ?? new InvertedIndex();
    this.#forms.set(measure, postings);
    postings.add(value, place);
  }

  #readHead(text: string): FigureHeadings {
    if (this.#head.text === text) return this.#head;
    const { vocabulary } = this;
    const units = listMatches(patterns(vocabulary).unit, lowerCase(text)).flatMap(
      ({ 0: { length }, index }) => unitNames(vocabulary).findUnit(text.slice(index, index + length)) ?? [],
    );
    const forms = findFigures(text, vocabulary).flatMap((figure) => listFigureForms(figure));
    this.#head = { text, units, factors: findColumnFactors(text, vocabulary), forms };
    return this.#head;
  }

  #findAll(sought: readonly AmountRange[]): PostingsList {
    return PostingsList.join(
      sought.map(({ measure, least, most, listExcluded }) => {
        const places = this.#forms.get(measure)?.listBetween(least, most) ?? NO_PLACES;
        return places.count === 0 || !listExcluded
          ? places
          : places.excludePlaces(this.#findAll(listExcluded()));
      }),
    );
  }
}

/** Lists the forms of all figures that a passage states. */
function listStatedForms(
  text: string,
  figures: readonly Figure[],
  head: FigureHeadings,
  vocabulary: Vocabulary,
): Form[] {
  const forms = figures.flatMap((figure, i): Form[] => {
    if (figure.kind !== "number") return listFigureForms(figure);
    const next = figures[i + 1];
    const pair = next?.kind === "number" ? listPairForms(figure, next, text, vocabulary) : [];
    return [...listNumberForms(figure, head), ...pair];
  });
  const dates = figures.filter(({ kind }) => kind === "date");
  return [
    ...forms,
    ...listMatches(SHORT_YEAR, text).map(([year]): Form => ["", Number(expandYear(year))]),
    ...listMatches(DIGITS_IN_WORD, text).map(([digits]): Form => ["name", Number(digits)]),
    ...findMonths(blankOutDates(text, dates), vocabulary).map(
      (month): Form => ["day", computeDateKey({ month })],
    ),
  ];
}

/** Lists the forms of two numbers that are one statement, such as `one in five`, `3 to 1`. */
function listPairForms(first: Quantity, second: Quantity, text: string, vocabulary: Vocabulary): Form[] {
  const between = lowerCase(text.slice(first.end, second.start));
  const [part = 0, whole = 1] = [first.readings[0]?.value, second.readings[0]?.value];
  if (patterns(vocabulary).outOf.test(between)) return [["", part], ...listShareForms(part / whole)];
  return RATIO.test(between) ? listCodeForms(`${part}:${whole}`) : [];
}

/** Lists the forms of a figure, without regard to headings. */
function listFigureForms(figure: Figure): Form[] {
  if (figure.kind === "code")
    return figure.values.flatMap((code) => [...listCodeForms(code), ...listCodePartForms(code)]);
  return figure.kind === "date" ? figure.readings.flatMap(listDateForms) : listNumberForms(figure);
}

/** Lists the forms of a number. `heads`: the units in the headings above it. */
function listNumberForms(
  { readings, unit, text, isWord }: Quantity,
  { units: heads, factors }: Pick<FigureHeadings, "units" | "factors"> = { units: [], factors: [] },
): Form[] {
  // The word "one" is seldom a number.
  if (isWord && readings[0]?.value === 1 && unit === undefined) return [];
  // `1 600` may be two numbers, and ½ is 1/2, so list the parts as well.
  const written = text.normalize("NFKD");
  const parts = /\d[ ⁄]\d/.test(written) ? (written.match(/\d+/g) ?? []) : [];
  const forms = parts.map((part): Form => ["", Number(part)]);
  for (const factor of [1, ...factors])
    for (const reading of readings) {
      const value = reading.value * factor;
      const size = Math.abs(value);
      for (const each of unit ? listNamesakeUnits(unit) : heads) {
        forms.push([unit ? each.digits : each.digitsBelow, size]);
        for (const amount of convertAmount(value, each)) forms.push([each.measure, amount]);
      }
      if (unit) {
        if (unit !== ORDER || !isWord) forms.push(["*", size]);
      } else forms.push(...listShareForms(size, isWord));
    }
  return forms;
}

/** Lists the forms of a share. A share in words may also be rounded to whole percent, up or down: two thirds are 66 or 67 %. */
function listShareForms(share: number, isRounded = true): Form[] {
  const rounded =
    isRounded && share < 1 ? [Math.floor(share * 100) / 100, Math.round(share * 100) / 100] : [];
  return [share, ...rounded].map((value) => ["", value]);
}

/** Lists the less exact dates that a date contains: 4 July 2024 is also July 2024, 4 July, and July. */
function listDateForms({ year, month, day }: CalendarDate): Form[] {
  const keys = [year, undefined].flatMap((y) =>
    [day, undefined].map((d) => computeDateKey({ year: y, month, day: d })),
  );
  return [
    ...keys.map((key): Form => ["date", key]),
    ...(year === undefined ? keys.map((key): Form => ["day", key]) : [["", year] as const]),
  ];
}

function computeDateKey({ year = 0, month, day = 0 }: Partial<CalendarDate> & { month: number }): number {
  return year * 10_000 + month * 100 + day;
}

/** Lists the forms of a code. 14:00 may be stated as 14 o'clock, and a duration of 1:30 as 90 minutes. */
function listCodeForms(code: string): Form[] {
  const [, hour, minute] = /^(\d\d?):(\d\d)$/.exec(code) ?? [];
  return [
    ["code", hashText(code)],
    ...(hour === undefined ? [] : [["time", (Number(hour) * 60 + Number(minute)) * MINUTE] as const]),
    ...(minute === "00" ? [["", Number(hour)] as const] : []),
  ];
}

/** Lists the forms of parts of a code: 14:05 of 14:05:33, 14:08 of 00:14:08, the port of an address, 3 and 1 of 3:1, 2.14 of 2.14.0. */
function listCodePartForms(code: string): Form[] {
  const times = [/^\d+:\d\d(?=:)/, /(?<=^0:0?)\d\d?:\d\d$/].flatMap((form) => form.exec(code) ?? []);
  const numbers = code.match(/^\d+(?=:\d$)|(?<=:)(?:\d|\d{3,})$|^\d+\.\d+(?=\.)/g) ?? [];
  return [...times.flatMap(listCodeForms), ...numbers.map((part): Form => ["", Number(part)])];
}

function buildExactRange([measure, value]: Form): AmountRange {
  return { measure, least: value * (1 - EPSILON), most: value * (1 + EPSILON) };
}

/** Lists where to look for a number. The same digits with another unit do not match. */
function listAmountRanges(
  reading: Reading,
  unit: Unit | undefined,
  bound: Bound,
  rounding: Rounding,
): AmountRange[] {
  const range = buildRoundingRange(reading, unit, bound, rounding);
  const buildTimes = (measure: string, factor = 1, [least, most] = range): AmountRange => ({
    measure,
    least: least * factor,
    most: most * factor,
  });
  if (unit === undefined || unit === ORDER) {
    const share = unit === undefined && range[1] <= 1 ? [buildTimes("percent", 100)] : [];
    return [...["", "name", unit ? "order" : "*"].map((measure) => buildTimes(measure)), ...share];
  }
  const listAmounts = ([least, most]: Range): AmountRange[] =>
    unit.factors.map((factor) => {
      const ends = [least, most].map((end) => (reading.value < 0 ? -end : end) * factor + unit.offset);
      return { measure: unit.measure, least: Math.min(...ends), most: Math.max(...ends) };
    });
  // A converted amount may also be rounded to its trailing zeros: 186 mph are 300 km/h.
  const converted = buildRoundingRange(reading, unit, bound, "converted");
  const listExcluded = () =>
    [unit.digits, unit.digitsBelow].map((measure) => buildTimes(measure, 1, converted));
  // 90 % may be written as 0.9, and 0.9 dollars as 90 cents.
  const shares = unit.kind === "percent" ? [""] : unit.id === "cent" ? ["", ...unit.others] : [];
  return [
    { ...buildTimes(""), listExcluded: () => unit.others.map((id) => buildTimes(`=${id}`)) },
    buildTimes(unit.digits),
    ...listAmounts(range),
    ...shares.map((measure) => buildTimes(measure, 0.01)),
    ...(unit.kind === "money" && range[1] <= 1 ? [buildTimes("=cent", 100)] : []),
    ...listAmounts(converted).map((amount) => ({ ...amount, listExcluded })),
  ];
}

type Range = readonly [least: number, most: number];

/** Returns the range of numbers that may be rounded to `reading`, without sign. */
function buildRoundingRange(
  reading: Reading,
  unit: Unit | undefined,
  bound: Bound,
  rounding: Rounding,
): Range {
  const { value, step, zeros } = reading;
  const size = Math.abs(value);
  if (rounding === "open") return bound === "over" ? [size, size * MOST_OPEN] : [size / MOST_OPEN, size];
  const isSilent = bound === "plain" || bound === "loose";
  const isYear = unit === undefined && size < LATEST_YEAR;
  const isRound =
    rounding === "converted" ||
    (rounding === "written" && zeros >= ROUND_ZEROS && size >= THOUSAND && !isYear);
  const place = step * 10 ** (isSilent && !isRound ? 0 : zeros);
  // "Almost 9.5 m" for 9.41 m and "about 3,500" for 3,260 are rounded to steps of five, within the 10 % of contract §11.
  const half = (place / 2) * (bound === "about" && Math.round(size / place) % 10 === 5 ? 5 : 1);
  const below = bound === "over" ? 0 : bound === "under" ? place : half;
  const above = bound === "over" ? place * (1 - EPSILON) : bound === "under" ? 0 : half;
  const share = isSilent ? MOST_ROUNDED : MOST_BOUNDED;
  return [
    Math.max(size - below, size / (1 + share)) * (1 - EPSILON),
    Math.min(size + above, size / (1 - share)) * (1 + EPSILON),
  ];
}
