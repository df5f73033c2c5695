import { type CalendarDate, inFull, monthsIn, sameDate, withoutDates } from "./dates.js";
import { type Bound, factorsIn, multiplied, POWER, type Quantity, type Said, saidIn } from "./quantities.js";
import { matchesIn } from "./tokens.js";
import { areComparable, isMoney, ORDER, type Unit, unitNamed } from "./units.js";

/** A number of a passage, by its index: its value, or its amount in the smallest unit of a kind. */
interface StatedNumber {
  value: number;
  unit: Unit | undefined;
  passage: number;
}

interface StatedDate {
  readings: readonly CalendarDate[];
  passage: number;
}

/** The place of a number that stands on the page outside its passages. */
export const ELSEWHERE = -1;
/** Two numbers that differ by less than this share of them are one: units are converted in floating point. */
const EPSILON = 1e-13;
/** What a number may differ at most, as a share of what it stands for; after "about" and the like by contract §11. */
const ROUNDING = { rounded: 0.005, about: 0.1, over: 0.1, under: 0.1 };
/** Farther from a number no other is looked at. */
const REACH = 0.2;
/** Digits in a word, as in `SHA256` and `TLSv1.3`: a sentence may write `SHA-256` and `TLS 1.3`. */
const IN_WORD = /(?<=\p{L})\d+(?:\.\d+)?/gu;
/** Stands for the unit of such digits: they are no amount of anything. */
const NAME: Unit = { kind: "name", factors: [] };
/** What a page says once of the numbers of its tables: `(in thousands)`. */
const SCALE = /(?:\bin |\()(?:[$€£]|[A-Z]{3} )?\p{L}+/gu;

/** What a page says in words, and a sentence may say in percent or, of a thousand and the like, in digits. */
const FRACTION = new RegExp(
  `(?<!\\p{L})(?:(two|three|four|zwei|drei|vier)[ -])?(half|halves|hälfte|halben?|medio|demi|thirds?|drittel|quarters?|viertel|fifths?|fünftel|tenths?|zehntel|mitad|moitié|tercios?|tiers|cuartos?|quarts?|quintos?|cinquièmes?)(?:[ -](?:an? )?(${POWER}))?(?!\\p{L})`,
  "giu",
);
const SHARES: Readonly<Record<string, number>> = {
  ...{ hal: 1 / 2, häl: 1 / 2, med: 1 / 2, dem: 1 / 2, thi: 1 / 3, dri: 1 / 3, qua: 1 / 4, vie: 1 / 4 },
  ...{ fif: 1 / 5, fün: 1 / 5, ten: 1 / 10, zeh: 1 / 10 },
  ...{ mit: 1 / 2, moi: 1 / 2, ter: 1 / 3, tie: 1 / 3, cua: 1 / 4, qui: 1 / 5, cin: 1 / 5 },
};
/** A power without digits before it, as in `a million` and `per million`. */
const ONE = new RegExp(`(?:(?<!\\p{L})(?:per|pro|je|an?|eine[rn]?|une?)\\s|/\\s?)(${POWER})`, "giu");
/** Between the numbers of a share: `one in five`. */
const OUT_OF = /^\/$|^ (?:\p{L}+ )?(?:in|out of|of|von|aus|de cada|sur|su) $/u;
const RATIO = /^(?: (?:to|zu) |[-–])$/;
/** Between a day and a year: the name of a month that is not known. */
const MONTH = /^\.? \p{L}{3,12}\.? $/u;
const [HOUR, MINUTE] = [unitNamed("hour"), unitNamed("minute")];
/** From 1, the words for a place in an order and for a multiple, or how they begin. */
const ORDINALS =
  "first|erste|primer|premi second|doubl|twice|twofold|zweit|doppelt|segund|deuxi third|tripl|threefold|dritt|tercer|troisi fourth|viert|cuart|quatri fifth|fünft|quint|cinqui sixth|sechst|sext|sixi seventh|siebt|sépt|septi eighth|achte|octav|huiti ninth|neunt|noven|neuvi tenth|zehnt|décim|dixi eleventh|elft|onzi twelfth|zwölft|douzi thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(
    " ",
  );
const ORDINAL = new RegExp(
  `(?<!\\p{L})(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -])?(?:${ORDINALS.map((words) => `(${words})`).join("|")})`,
  "giu",
);
/** Years without their century: `FY24`, `3Q24`, `'24`. */
const SHORT_YEAR = /\d\d(?!\d)(?<=(?:(?:FY|[1-4]Q|[12]H|Q[1-4]|H[12])[ '’]?|(?<!\d)['’])\d\d)/giu;
/** A time of day that is not on the hour. */
const MINUTES = /^\d\d?:(?!00$)\d\d$/;

/** The numbers and dates of several passages, in which those of a sentence are looked up. */
export class StatedNumbers {
  /** By kind of unit; under the empty name the numbers as they stand. */
  readonly #numbers = new Map<string, StatedNumber[]>();
  readonly #scales = new Set<number>();
  /** By month. */
  readonly #dates = new Map<number, StatedDate[]>();
  readonly #literals = new Map<string, Set<number>>();

  /**
   * The passages by their indexes. `over` stands over one, as a heading or the head of a column: what is said there is said
   * in the passage, and a unit that is named there may be that of its numbers.
   */
  constructor(passages: Iterable<readonly [index: number, text: string, over?: string]>) {
    for (const [passage, text, over = ""] of passages) this.#add(passage, text, over);
    for (const each of this.#numbers.values()) each.sort((a, b) => a.value - b.value);
  }

  #add(passage: number, text: string, over: string): void {
    const heads = unitsIn(over);
    const factors = factorsIn(over);
    const all = saidIn(text);
    for (const [i, said] of all.entries()) {
      this.#keep(said, passage, heads);
      const next = all[i + 1];
      if (said.kind === "number" && next?.kind === "number")
        this.#pair(said, next, text.slice(said.end, next.start), passage);
      if (said.kind === "number")
        for (const factor of factors)
          this.#keep({ ...said, values: said.values.map((value) => value * factor) }, passage, heads);
    }
    for (const said of saidIn(over)) this.#keep(said, passage, []);
    for (const { 1: count = "", 2: part = "", 3: power = "" } of matchesIn(FRACTION, text)) {
      const share = (numberIn(count) ?? 1) * (SHARES[part.slice(0, 3).toLowerCase()] ?? 1);
      for (const factor of power ? factorsIn(power) : [1]) this.#share(share * factor, passage);
    }
    for (const [sign] of matchesIn(/[¼⅓½⅔¾⅛]/g, text)) {
      const [part = 0, whole = 1] = sign.normalize("NFKD").split("⁄").map(Number);
      this.#share(part / whole, passage);
      for (const value of [part, whole]) this.#number("", value, undefined, passage);
    }
    for (const { 1: power = "" } of matchesIn(ONE, text))
      for (const factor of factorsIn(power)) this.#number("", factor, undefined, passage);
    for (const [word, tens = "", ...orders] of matchesIn(ORDINAL, text))
      if (word)
        this.#number(ORDER.kind, (numberIn(tens) ?? 0) + orders.findIndex(Boolean) + 1, ORDER, passage);
    // A page that names the year elsewhere need not repeat it.
    const dates = all.filter(({ kind }) => kind === "date");
    for (const month of monthsIn(withoutDates(text, dates)))
      this.#date([{ year: undefined, month, day: undefined }], passage);
    for (const [year] of matchesIn(SHORT_YEAR, text))
      this.#number("", Number(inFull(year)), undefined, passage);
    for (const [digits] of matchesIn(IN_WORD, text)) this.#number("", Number(digits), NAME, passage);
    for (const [scale] of matchesIn(SCALE, text))
      for (const factor of factorsIn(scale)) this.#scales.add(factor);
  }

  /** The indexes of the passages in which it stands. `over`: what stands over it, as over a passage. */
  passagesOf(said: Said, over = ""): ReadonlySet<number> {
    if (said.kind === "literal") {
      const found = new Set(said.values.flatMap((value) => [...(this.#literals.get(value) ?? [])]));
      if (found.size > 0) return found;
      // `14:00` is 14 o'clock.
      const hours = said.values.filter((value) => value.endsWith(":00")).map(Number.parseFloat);
      const plain = hours
        .flatMap((hour) => this.#near("", hour, "exact"))
        .filter(({ unit }) => unit === undefined);
      return new Set(plain.map(({ passage }) => passage));
    }
    if (said.kind === "number") {
      const scales = said.factors[0] === 1 ? [] : [...this.#scales].map((scale) => 1 / scale);
      const values = multiplied(said.values, [1, ...factorsIn(over), ...scales]);
      const ways = said.unit ? [said] : [said, ...unitsIn(over).map((unit) => ({ ...said, unit }))];
      const found = ways.flatMap((way) => this.#matches({ ...way, values }));
      return new Set(found.map(({ passage }) => passage));
    }
    const hasYear = ({ year = 0 }: CalendarDate) => this.#near("", year, "exact").length > 0;
    const isSame = (one: CalendarDate, other: CalendarDate) =>
      sameDate(one, other) ||
      // A page that names the year elsewhere need not repeat it in each date.
      (other.year === undefined && sameDate({ ...one, year: undefined }, other) && hasYear(one));
    const candidates = said.readings.flatMap(({ month }) => this.#dates.get(month) ?? []);
    const same = candidates.filter(({ readings }) =>
      said.readings.some((one) => readings.some((other) => isSame(one, other))),
    );
    return new Set(same.map(({ passage }) => passage));
  }

  #keep(said: Said, passage: number, heads: readonly Unit[]): void {
    if (said.kind === "literal") {
      for (const value of said.values) this.#literal(value, passage);
      // A port stands behind an address, and an hour before its minutes.
      for (const part of said.values.flatMap((value) => (MINUTES.test(value) ? [] : value.split(":"))))
        if (part !== said.text && /^\d+$/.test(part) && part !== "00")
          this.#number("", Number(part), undefined, passage);
      // Version 2.14.0 is one of version 2.14.
      const short = /^\d+\.\d+(?=\.)/.exec(said.values[0] ?? "");
      if (short) this.#number("", Number(short[0]), undefined, passage);
    } else if (said.kind === "date") {
      this.#date(said.readings, passage);
      for (const { year, month, day } of said.readings) {
        if (year !== undefined) this.#number("", year, undefined, passage);
        // `10/2000` may be a share.
        if (day === undefined) this.#number("", month, undefined, passage);
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

  /** What two numbers say together: `one in five`, `3 to 1`, `3 hours and 20 minutes`. */
  #pair(one: Quantity, other: Quantity, between: string, passage: number): void {
    const [first = 0, second = 1] = [one.values[0], other.values[0]];
    if (OUT_OF.test(between)) this.#share(first / second, passage);
    const [day, year] = first > 31 ? [second, first] : [first, second];
    const isDay = MONTH.test(between) && day > 0 && day < 32 && year > 1_000 && year < 2_100;
    const readings = isDay ? Array.from({ length: 12 }, (_, i) => ({ year, month: i + 1, day })) : [];
    this.#date(readings, ELSEWHERE);
    const isTime = one.unit === HOUR && other.unit === MINUTE && between.length < 6;
    if (isTime || RATIO.test(between))
      this.#literal(`${first}:${isTime && second < 10 ? "0" : ""}${second}`, passage);
  }

  #date(readings: StatedDate["readings"], passage: number): void {
    for (const { month } of readings) {
      const dates = this.#dates.get(month) ?? [];
      this.#dates.set(month, dates);
      dates.push({ readings, passage });
    }
  }

  #literal(value: string, passage: number): void {
    this.#literals.set(value, (this.#literals.get(value) ?? new Set()).add(passage));
  }

  /** A share, and as it is rounded, up or down, to whole percent. */
  #share(share: number, passage: number): void {
    const percent = share < 1 ? [Math.floor(share * 100) / 100, Math.round(share * 100) / 100] : [];
    for (const value of new Set([share, ...percent])) this.#number("", value, undefined, passage);
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
      .filter(
        ({ unit: other }) =>
          !(unit && other && ((other.kind === "name" && unit !== ORDER) || areComparable(unit, other))),
      );
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
  if (bound === "exact") return said >= 1_000 && Number.isInteger(said) && Math.round(found) === said;
  const [digits = "", exponent = "0"] = said.toExponential().split("e");
  const fraction = digits.split(".")[1] ?? "";
  // Millions with two digits and more are meant as exact as they are written.
  const isPrecise = bound === "rounded" && said >= 10_000 && fraction !== "";
  if (Math.abs(said - found) > (isPrecise ? 0.05 : ROUNDING[bound]) * found) return false;
  // 3,200 is rounded to hundreds, the place of its last digit other than zero. A last 5, as in "about 3,500", may also be
  // rounded to steps of five.
  const step = (digits.endsWith("5") && !isPrecise ? 5 : 1) * 10 ** (Number(exponent) - fraction.length);
  const round = { rounded: Math.round, about: Math.round, over: Math.floor, under: Math.ceil }[bound];
  return isSame(round(found / step) * step);
}

function numberIn(words: string): number | undefined {
  const [said] = saidIn(words);
  return said?.kind === "number" ? said.values[0] : undefined;
}

const WORD = /[\p{L}µμ°%$€£¥]+/gu;

/** The units that a heading or the head of a column names, alone or in brackets. */
function unitsIn(text: string): Unit[] {
  return matchesIn(WORD, text).flatMap(([word]) => unitNamed(word) ?? []);
}
