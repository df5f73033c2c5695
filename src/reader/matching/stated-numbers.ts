import { type CalendarDate, sameDate } from "./dates.js";
import {
  type Bound,
  type Dated,
  factorsIn,
  multiplied,
  type Quantity,
  type Said,
  saidIn,
} from "./quantities.js";
import { matchesIn } from "./tokens.js";
import { areComparable, isMoney, type Unit, unitNamed } from "./units.js";

/** A number of a passage, by its index: its value, or its amount in the smallest unit of a kind. */
interface StatedNumber {
  value: number;
  unit: Unit | undefined;
  passage: number;
}

/** Two numbers that differ by less than this share of them are one: units are converted in floating point. */
const EPSILON = 1e-13;
/** What a number may differ at most, as a share of what it stands for; after "about" and the like by contract §11. */
const ROUNDING = { rounded: 0.005, about: 0.1, over: 0.1, under: 0.1 };
/** Farther from a number no other is looked at. */
const REACH = 0.2;
/** Digits in a word, as in `SHA256`: a sentence may write `SHA-256`. */
const IN_WORD = /(?<=\p{L})\d+/gu;
/** Stands for the unit of such digits: they are no amount of anything. */
const NAME: Unit = { kind: "name", factors: [] };
/** What a page says once of the numbers of its tables: `(in thousands)`. */
const SCALE = /(?:\bin |\()(?:[$€£]|[A-Z]{3} )?\p{L}+/gu;

/** What a page says in words, and a sentence may say in percent. */
const FRACTION =
  /(?<!\p{L})(?:(two|three|four|zwei|drei|vier)[ -])?(half|halves|hälfte|thirds?|drittel|quarters?|viertel|fifths?|fünftel|tenths?|zehntel)(?!\p{L})/giu;
const SHARES: Readonly<Record<string, number>> = {
  ...{ hal: 1 / 2, häl: 1 / 2, thi: 1 / 3, dri: 1 / 3, qua: 1 / 4, vie: 1 / 4 },
  ...{ fif: 1 / 5, fün: 1 / 5, ten: 1 / 10, zeh: 1 / 10 },
};

/** The numbers and dates of several passages, in which those of a sentence are looked up. */
export class StatedNumbers {
  /** By kind of unit; under the empty name the numbers as they stand. */
  readonly #numbers = new Map<string, StatedNumber[]>();
  #isSorted = true;
  readonly #scales = new Set<number>();
  readonly #dates = new Map<number, { date: Dated; passage: number }[]>();
  readonly #literals = new Map<string, Set<number>>();

  /**
   * Adds a passage by its index. `over` stands over it, as a heading or the head of a column: what is said there is said
   * in the passage, and a unit that is named there may be that of its numbers.
   */
  add(passage: number, text: string, over = ""): void {
    const heads = unitsIn(over);
    const factors = factorsIn(over);
    for (const said of saidIn(text)) {
      this.#keep(said, passage, heads);
      if (said.kind === "number")
        for (const factor of factors)
          this.#keep({ ...said, values: said.values.map((value) => value * factor) }, passage, heads);
    }
    for (const said of saidIn(over)) this.#keep(said, passage, []);
    for (const { 1: count = "", 2: part = "" } of matchesIn(FRACTION, text)) {
      const [many] = saidIn(count);
      const share = SHARES[part.slice(0, 3).toLowerCase()] ?? 1;
      this.#number("", (many?.kind === "number" ? (many.values[0] ?? 1) : 1) * share, undefined, passage);
    }
    for (const [digits] of matchesIn(IN_WORD, text)) this.#number("", Number(digits), NAME, passage);
    for (const [scale] of matchesIn(SCALE, text))
      for (const factor of factorsIn(scale)) this.#scales.add(factor);
    this.#isSorted = false;
  }

  /** The indexes of the passages in which it stands. `over`: what stands over it, as in `add`. */
  passagesOf(said: Said, over = ""): ReadonlySet<number> {
    if (said.kind === "literal")
      return new Set(said.values.flatMap((value) => [...(this.#literals.get(value) ?? [])]));
    if (said.kind === "number") {
      const scales = said.factors[0] === 1 ? [] : [...this.#scales].map((scale) => 1 / scale);
      const values = multiplied(said.values, [1, ...factorsIn(over), ...scales]);
      const ways = said.unit ? [said] : [said, ...unitsIn(over).map((unit) => ({ ...said, unit }))];
      const found = ways.flatMap((way) => this.#matches({ ...way, values }));
      return new Set(found.map(({ passage }) => passage));
    }
    const candidates = said.readings.flatMap(({ month }) => this.#dates.get(month) ?? []);
    // A page that names the year elsewhere need not repeat it in each date.
    const hasYear = ({ year = 0 }: CalendarDate) => this.#near("", year, "exact").length > 0;
    const same = candidates.filter(({ date }) =>
      said.readings.some((one) =>
        date.readings.some((other) =>
          sameDate(one, other.year === undefined && hasYear(one) ? { ...other, year: one.year } : other),
        ),
      ),
    );
    return new Set(same.map(({ passage }) => passage));
  }

  #keep(said: Said, passage: number, heads: readonly Unit[]): void {
    if (said.kind === "literal") {
      for (const value of said.values)
        this.#literals.set(value, (this.#literals.get(value) ?? new Set()).add(passage));
      // Version 2.14.0 is one of version 2.14.
      const short = /^\d+\.\d+(?=\.)/.exec(said.values[0] ?? "");
      if (short) this.#number("", Number(short[0]), undefined, passage);
    } else if (said.kind === "date") {
      for (const { year, month } of said.readings) {
        const dates = this.#dates.get(month);
        if (dates) dates.push({ date: said, passage });
        else this.#dates.set(month, [{ date: said, passage }]);
        if (year !== undefined) this.#number("", year, undefined, passage);
      }
    } else {
      const { values, unit, text } = said;
      // `1 600` may be two numbers beside one another.
      if (/\d \d/.test(text))
        for (const part of text.match(/\d+/g) ?? []) this.#number("", Number(part), undefined, passage);
      for (const value of values) {
        this.#number("", value, unit, passage);
        for (const each of unit ? [unit] : heads)
          for (const factor of each.factors) this.#number(each.kind, value * factor, unit, passage);
      }
    }
  }

  #number(kind: string, value: number, unit: Unit | undefined, passage: number): void {
    // What fell by 3 % changed by -3 %.
    const entry = { value: Math.abs(value), unit, passage };
    const entries = this.#numbers.get(kind);
    if (entries) entries.push(entry);
    else this.#numbers.set(kind, [entry]);
  }

  #matches({ values: signed, unit, bound }: Quantity): StatedNumber[] {
    const values = signed.map(Math.abs);
    const plain = values
      .flatMap((value) => this.#near("", value, bound))
      // The same digits with another unit of the same kind are another amount.
      .filter(({ unit: other }) => !(unit && other && (other.kind === "name" || areComparable(unit, other))));
    const amounts = values.flatMap((value) => (unit?.factors ?? []).map((factor) => value * factor));
    // A share of 0.9 is 90 %, and 0.9 dollars are 90 cents.
    const isCent = unit?.kind === "cent";
    const shares = values.flatMap((value) =>
      isCent || unit?.kind === "percent"
        ? this.#near("", value / 100, bound).filter((entry) => isCent || entry.unit === undefined)
        : value < 1 && (unit === undefined || isMoney(unit))
          ? this.#near(unit ? "cent" : "percent", value * 100, bound)
          : [],
    );
    return [...plain, ...amounts.flatMap((amount) => this.#near(unit?.kind ?? "", amount, bound)), ...shares];
  }

  #near(kind: string, value: number, bound: Bound): StatedNumber[] {
    if (!this.#isSorted) for (const each of this.#numbers.values()) each.sort((a, b) => a.value - b.value);
    this.#isSorted = true;
    const entries = this.#numbers.get(kind) ?? [];
    const found: StatedNumber[] = [];
    for (let at = firstFrom(entries, value / (1 + REACH)); ; at++) {
      const entry = entries[at];
      if (!entry || entry.value > value * (1 + REACH)) return found;
      if (meets(value, entry.value, bound)) found.push(entry);
    }
  }
}

/** The index of the first entry of at least `least`. */
function firstFrom(entries: readonly StatedNumber[], least: number): number {
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((entries[middle]?.value ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

function meets(said: number, found: number, bound: Bound): boolean {
  const isSame = (a: number) => Math.abs(a - said) <= EPSILON * said;
  if (isSame(found)) return true;
  if (bound === "exact" || Math.abs(said - found) > ROUNDING[bound] * found) return false;
  const step = stepOf(said);
  const round = { rounded: Math.round, about: Math.round, over: Math.floor, under: Math.ceil }[bound];
  return isSame(round(found / step) * step);
}

/** What a rounded number is a multiple of: its last digit that is no zero, 5 for a five. */
function stepOf(value: number): number {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const fraction = digits.split(".")[1] ?? "";
  return (digits.endsWith("5") ? 5 : 1) * 10 ** (Number(exponent) - fraction.length);
}

const WORD = /[\p{L}µμ°%$€£¥]+/gu;

/** The units that a heading or the head of a column names, alone or in brackets. */
function unitsIn(text: string): Unit[] {
  return matchesIn(WORD, text).flatMap(([word]) => unitNamed(word) ?? []);
}
