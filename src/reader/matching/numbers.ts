import {
  buildAlternation,
  cacheByVocabulary,
  cutMatch,
  IN_WORD,
  listMatches,
  lowerCase,
  type Token,
} from "../languages/patterns.js";
import type { Vocabulary } from "../languages/vocabulary.js";
import { blankOutDates, type DateInText, findDates } from "./dates.js";
import { ORDER, type Unit, unitNames } from "./units.js";

/** A possible value of a number. `step`: the value of its last written digit. `zeros`: the trailing zeros of a whole number. */
export interface Reading {
  value: number;
  step: number;
  zeros: number;
}

/**
 * How the words around a number limit it. "loose": a page may state the same in other words, because the number is a decade, a
 * century, a difference in percentage points, or a time "ago".
 */
export type Bound = "plain" | "about" | "over" | "under" | "loose";

/** A number in a text, with its possible values. `text` is as written, with the unit. */
export class Quantity implements Token {
  readonly kind = "number";
  #bound: Bound | undefined;

  constructor(
    readonly text: string,
    readonly start: number,
    readonly end: number,
    /** The possible values; several if the digits are ambiguous: `1.600` is 1600 in German. */
    public readings: readonly Reading[],
    /** The factor of a word such as `billion`; 1 without one. */
    readonly factor: number,
    public unit: Unit | undefined,
    /** Whether the number is written as a word. */
    readonly isWord: boolean,
    private readonly findBound: (number: Quantity) => Bound,
  ) {}

  /** Computed on demand, because only the numbers of sentences need it, and not those of pages. */
  get bound(): Bound {
    this.#bound ??= this.findBound(this);
    return this.#bound;
  }
}

/** A time of day, version or address, whose digits are compared as written. It may have two values: `2:30 pm` is also 14:30. */
export interface Code extends Token {
  kind: "code";
  values: readonly string[];
}

/** A number, code or date, which another text may state in another form. */
export type Figure = Quantity | Code | DateInText;

/** Matches a Chinese, Japanese or Korean power, after which the number may continue: `1億2500万`. */
const GOES_ON = /[千万萬億亿兆백천만억조]$/;
/** The factors of letters directly after digits or money. */
const LETTERS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, mm: 1e6, b: 1e9, t: 1e12 };
const LETTER = `[${IN_WORD.slice("[0-9".length)}`;
const SPACE = "[ \\u00a0\\u2007\\u2009\\u202f]";
const CURRENCY = `(?:us|a|c|hk|nz|r)?\\$|[€£¥₹]|(?<!${IN_WORD})(?:usd|eur|gbp|chf|jpy|cny|rmb|inr|nok|sek|dkk|pln|cad|aud|rs\\.?|kr\\.?)`;
/** Matches a telephone number, ISBN or file number, which has three or more groups and is not an amount. */
const IDENTIFIER = "\\d+(?:-\\d+){2,}";
const DIGITS = `\\d{1,3}(?:[\\u00a0\\u2007\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d(?:\\.\\d+)?e[-+]?\\d\\d?(?!${IN_WORD})|\\d+(?:[.,:·]\\d+)*|\\.\\d+`;
/** For each thousands separator: its decimal separator, and the pattern of a number written with them. */
const GROUPED: readonly (readonly [mark: string, point: string, form: RegExp])[] = [
  [",", ".", /^(?:\d*|[1-9]\d{0,2}(?:,\d{2,3})*,\d{3})(?:\.(\d+))?$/],
  [".", ",", /^(?:\d*|[1-9]\d{0,2}(?:\.\d{2,3})*\.\d{3})(?:,(\d+))?$/],
];
/** Matches a digit of another script. Digits of a script begin at a multiple of 16, in the scripts of India 6 later. */
const SCRIPT_DIGIT = /[^\P{Nd}0-9]/gu;
/** How far from a number its bounding words may be, in characters. */
const REACH = 32;
/** The number of digits that a floating-point number represents exactly. */
const MOST_DIGITS = 15;

/** The patterns for numbers in the languages of a vocabulary. */
const patterns = cacheByVocabulary((vocabulary) => {
  const readTable = (name: string) =>
    vocabulary.listEntries(name).map(([word, value]): [string, number] => [word, Number(value)]);
  const readOrdered = (name: string, begin: number, step = 1) =>
    vocabulary
      .listOrdered(name)
      .map(([word, place]): [string, number] => [word.replaceAll("-", " "), begin + step * place]);
  // If two languages use a word differently, the first one takes precedence.
  const powers = new Map(readTable("powers").reverse());
  const fractions = new Map(readTable("fractions"));
  const [ordinals, tens] = [new Map(readOrdered("ordinals", 1)), new Map(readOrdered("tens", 20, 10))];
  const cardinals = new Map([...readOrdered("ones", 0), ...tens, ...readTable("numbers")]);
  const atoms = new Map([...ordinals, ...cardinals]);
  const large = buildAlternation([...cardinals].flatMap(([name, value]) => (value >= 100 ? name : [])));
  const [atom, ten, fraction] = [cardinals, tens, fractions].map((table) => buildAlternation(table.keys()));
  const [and, article, clock, to] = ["and", "articles", "clock", "to"].map((name) =>
    buildAlternation(vocabulary.list(name)),
  );
  const nth = `${buildAlternation(ordinals.keys())}${IN_WORD}{0,4}`;
  const power = `(?:${buildAlternation(powers.keys())}(?!${LETTER})(?:\\.(?=\\s?[a-z€$£]))?)`;
  const join = `(?:(?<=${large})[ -](?:${and}[ -])?|(?<=${ten})[ -](?:${and}[ -])?(?!${ten})|[ -](?=${large})|${and})?`;
  const word = `${atom}(?:${join}${atom})*(?:(?<=${ten})-(?<last>${nth}))?|${article}(?=[ -](?:${power}|${fraction}))`;
  /** Matches a word of a list directly before a number or its currency, or directly after it. */
  const matchAround = (name: string, sign = "(?!)") => {
    const words = vocabulary.list(name);
    const behind = buildAlternation(words.flatMap((each) => (each.startsWith("~") ? each.slice(1) : [])));
    const before = buildAlternation(words.filter((each) => !each.startsWith("~")));
    return new RegExp(
      `(?:(?<!${IN_WORD})${before}\\.?|${sign})\\s*(?:(?:${CURRENCY})\\s?)?\\0|\\0[ -]?${behind}(?!${IN_WORD})`,
    );
  };
  return {
    ...{ atoms, powers, fractions },
    atom: new RegExp(buildAlternation(atoms.keys()), "g"),
    number: new RegExp(
      [
        `(?:(?<money>${CURRENCY})${SPACE}?\\(?)?(?<sign>(?<![_)\\]${IN_WORD.slice(1)})[-−–])?(?<![_${IN_WORD.slice(1)})`,
        `(?:v?(?:(?<identifier>${IDENTIFIER})|(?<digits>${DIGITS})|(?=[¼⅓½⅔¾]))(?<glyph>[¼⅓½⅔¾])?|(?<word>(?:${word})(?=-?fold|-?fach|(?!${IN_WORD})))(?:[ -](?<part>${fraction})(?!${IN_WORD}))?|(?<nth>${nth})(?!${IN_WORD}))`,
        `(?<order>(?:st|nd|rd|th|er|e|ème|x|-?fold|-?fache?)(?!${IN_WORD})|[ºªᵉ×])?(?:\\)?(?:(?<=${fraction}) of an?)?(?:${SPACE}|-)?(?<power>${power}|[kmbt](?=[€$£¥]))(?:${SPACE}(?:d[ei](?=${SPACE})|d['’]))?)?`,
        `(?:(?:${SPACE}|-)?(?<unit>${unitNames(vocabulary).pattern}|[kb])(?!${IN_WORD}))?`,
      ].join(""),
      "g",
    ),
    time: new RegExp(
      `(?<![.,:/_${IN_WORD.slice(1)})(?<hour>\\d\\d?)(?:(?::|h|\\.(?=\\d\\d\\s?${clock}))(?<minute>\\d\\d))?(?![\\d:])(?:\\s?(?:(?<half>[ap])\\.?m\\b|(?<clock>${clock})(?!${IN_WORD})))?`,
      "g",
    ),
    to: new RegExp(`^\\s*(?:[-–—/]|${to})\\s*$`),
    // Matches the first of two numbers that share a bound, such as `about 30 to 40`.
    first: new RegExp(`(?<=[\\s~∼≈><≥≤])\\d[\\d.,]*\\s?%?\\s*(?:[-–—]|${to}\\s)\\s*$`, "u"),
    and: new RegExp(`^\\.?\\s*(?:,?\\s*${and})?\\s*$`),
    head: new RegExp(
      `(?<!${IN_WORD}|\\d\\s)${power}|(?<=[$€£¥]\\s?|\\b(?:eur|usd|gbp|chf)\\s?)m(?!${IN_WORD})|(?<!${IN_WORD})[km](?=[$€£¥])|(?<=[$€£(]|['’])000|\\b(?:in|x|×) 1[.,]?000\\b`,
      "g",
    ),
    bounds: {
      about: matchAround("about", "[~∼≈]"),
      over: matchAround("over", "[>≥]"),
      under: matchAround("under", "[<≤]"),
      ...{ ago: matchAround("ago"), decades: matchAround("decades"), spans: matchAround("spans") },
    },
  };
});

/**
 * Finds the numbers, times and dates of a text, in order. Digits inside a word (`IPv6`) do not count as a number; digits after
 * a hyphen (`GPT-4`) do.
 */
export function findFigures(original: string, vocabulary: Vocabulary): Figure[] {
  const text = normalizeDigits(original);
  const { number, to, and, time } = patterns(vocabulary);
  const dates = findDates(text, vocabulary);
  const dateless = blankOutDates(text, dates);
  const times = listMatches(time, lowerCase(dateless)).flatMap(
    (match) => readTimeOfDay(match, dateless) ?? [],
  );
  // Replace dates and times with blanks, so that their digits are not read as numbers.
  const rest = blankOutDates(dateless, times);
  const lower = lowerCase(rest);
  const figures: (Quantity | Code)[] = [];
  for (const match of listMatches(number, lower)) {
    const figure = readNumberMatch(match, rest, vocabulary);
    const last = figures.at(-1);
    if (figure?.kind === "number" && last?.kind === "number") {
      const between = lower.slice(last.end, figure.start);
      const whole = joinNumberParts(last, figure, between, and);
      if (whole) figures.pop();
      else if (to.test(between)) copyUnitToFirst(last, figure);
      figures.push(whole ?? figure);
    } else if (figure) figures.push(figure);
  }
  return [...dates, ...times, ...figures].sort((a, b) => a.start - b.start);
}

/** Applies the power and unit of the second number of a range to the first: `1.2–1.3 billion euros`. */
function copyUnitToFirst(first: Quantity, { unit, factor }: Quantity): void {
  // A year is not the first number of such a range: `from 57.9 % in 2020 to 62.4 %`.
  if (/^(?:1[5-9]|20)\d\d$/.test(first.text) && unit) return;
  first.unit ??= unit;
  if (first.factor === 1 && (unit === undefined || first.unit === unit))
    first.readings = [...first.readings, ...multiplyReadings(first.readings, factor)];
}

/** Finds the factors that a column title gives to the numbers below: `Costs (million euros)`, `€m`, `M€`, `TEUR` or `$'000`. */
export function findColumnFactors(head: string, vocabulary: Vocabulary): number[] {
  const { head: pattern, powers } = patterns(vocabulary);
  return listMatches(pattern, lowerCase(head)).map(([sign]) => {
    const word = sign.replace(/\.$/, "");
    return powers.get(word) ?? LETTERS[word] ?? 1e3;
  });
}

export function multiplyReadings(readings: readonly Reading[], factor: number): Reading[] {
  return readings.map((each) => ({
    ...each,
    value: each.value * factor,
    step: each.step * Math.abs(factor),
  }));
}

/** Normalizes hyphens and digits, and separates a date from its hour. Keeps the length. */
function normalizeDigits(text: string): string {
  return text
    .replace(/[‐‑]/g, "-")
    .replace(/(\d) h (\d\d)(?!\d| ?m)/g, "$1h$2  ")
    .replace(/(\d-\d\d)T(?=\d\d:)/g, "$1 ")
    .replace(/(?<=:\d\d:\d\d)[.,]\d+/g, (part) => " ".repeat(part.length))
    .replace(/(?<!\d)：|：(?!\d)/g, " ")
    .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(SCRIPT_DIGIT, (digit) => `${(digit.charCodeAt(0) - (/[०-෯]/.test(digit) ? 6 : 0)) & 15}`)
    .replace(/[٬٫]/g, (mark) => (mark === "٬" ? "," : "."));
}

/** Joins two parts of one number, such as `1億2500万`, `2 miliardi e 340 milioni`, `1 h 30 min`; undefined if they are two numbers. */
function joinNumberParts(
  first: Quantity,
  second: Quantity,
  between: string,
  and: RegExp,
): Quantity | undefined {
  if (first.text.length > REACH) return undefined;
  const [hours, time] = [first.unit, second.unit].map((unit) =>
    unit?.kind === "time" ? unit.factors[0] : 0,
  );
  // After hours, an m means minutes: `3h 30m`.
  const minutes = first.unit?.id === "h" && /^[0-5]?\d ?m$/.test(second.text) ? 60_000 : time;
  const isNext = GOES_ON.test(first.text)
    ? /^ ?$/.test(between)
    : second.factor > 1 && /^[^,.]*$/.test(between) && and.test(between);
  const goesOn =
    isNext && first.unit === undefined && (second.readings[0]?.value ?? first.factor) < first.factor;
  const isTime = hours && minutes && minutes < hours && and.test(between);
  if (!goesOn && !isTime) return undefined;
  const scale = isTime ? minutes / hours : 1;
  const readings = first.readings.flatMap(({ value }) =>
    multiplyReadings(isTime ? second.readings.slice(0, 1) : second.readings, scale).map((part) => ({
      ...part,
      value: value + part.value,
    })),
  );
  const text = `${first.text}${between}${second.text}`;
  const { start, factor, unit = second.unit, isWord } = first;
  return new Quantity(text, start, second.end, readings, factor, unit, isWord, () => first.bound);
}

/** Reads a time of day; undefined if the digits are just a number. */
function readTimeOfDay(match: RegExpExecArray, text: string): Code | undefined {
  const { hour, minute, half, clock } = match.groups ?? {};
  if ((minute ?? half ?? clock) === undefined) return undefined;
  const hours = [Number(hour), ...(half ? [(Number(hour) % 12) + (half === "p" ? 12 : 0)] : [])];
  return { kind: "code", ...cutMatch(match, text), values: hours.map((each) => `${each}:${minute ?? "00"}`) };
}

function readNumberMatch(
  match: RegExpExecArray,
  text: string,
  vocabulary: Vocabulary,
): Quantity | Code | undefined {
  const { groups = {} } = match;
  const { identifier, digits = "", glyph, word, nth, part = "" } = groups;
  const { last, order, money, sign, power = "", unit = "" } = groups;
  if (identifier !== undefined) return undefined;
  const place = cutMatch(match, text);
  const { start, end } = place;
  const plain = digits.replace("·", ".");
  const all = plain.replace(/\D/g, "");
  const read = listDigitReadings(plain);
  // A long number, or one with leading zeros such as `U+0001`, is not an amount.
  const isName = /^0\d{3,}$/.test(plain) || all.length > MOST_DIGITS;
  if (isName || (digits !== "" && read.length === 0))
    return { kind: "code", ...place, values: [isName ? all : plain.replace(/^0(?=\d:)/, "")] };
  const { powers, fractions, first } = patterns(vocabulary);
  const cutBefore = (length: number) => text.slice(Math.max(0, start - length), start);
  const spelt = word ?? nth;
  if (spelt !== undefined)
    read.push(buildExactReading(readNumberWords(spelt, vocabulary) / (fractions.get(part) ?? 1)));
  if (glyph !== undefined) {
    const [over = 0, under = 1] = glyph.normalize("NFKD").split("⁄").map(Number);
    read.splice(0, 2, { ...buildExactReading((read[0]?.value ?? 0) + over / under), step: 0.01 });
  }
  // `2021/22` is a range of two years.
  const century = /^\d\d$/.test(plain) && /(?<!\d)(1\d|20)\d\d[-–/]$/.exec(cutBefore(6))?.[1];
  if (century) read.push(buildExactReading(Number(century + plain)));
  const isLetter = power === "" && (money !== undefined || /\d\s?[a-z]$/.test(match[0]));
  const letter = (isLetter && LETTERS[unit]) || undefined;
  const factor = (money && letter) || (powers.get(power.replace(/\.$/, "")) ?? LETTERS[power] ?? 1);
  // A letter directly after digits may also be a unit: 5m.
  const factors = letter && !money ? [factor, letter] : [factor];
  const readings = factors.flatMap((each) => multiplyReadings(read, sign === undefined ? each : -each));
  // The key of a setting may contain the unit: `delay_ms: 250`. Units are case-sensitive: MB is not Mb.
  const key = /[_(](\p{L}+)\)?["'`]?\s?[:=]\s?["']?$/u.exec(cutBefore(REACH))?.[1];
  const written = (letter && money) || (unit && text.slice(end - unit.length, end)) || money || key || "";
  const isOrder =
    (nth ?? last ?? order) !== undefined || (all.length < 3 && /^\. \p{L}/u.test(text.slice(end, end + 4)));
  const measure = unitNames(vocabulary).findUnit(written.trim()) ?? (isOrder ? ORDER : undefined);
  const isWord = spelt !== undefined && power === "";
  return new Quantity(place.text, start, end, readings, factor, measure, isWord, (number) => {
    const before = lowerCase(cutBefore(REACH)).replace(first, "");
    return classifyBound(number, `${before}\0${lowerCase(text.slice(end, end + REACH))}`, vocabulary);
  });
}

/** Determines the bound of a number. `context`: the text around the number, with a NUL in its place. */
function classifyBound({ text, unit, readings }: Quantity, context: string, vocabulary: Vocabulary): Bound {
  const { bounds } = patterns(vocabulary);
  const has = (name: keyof typeof bounds) => bounds[name].test(context);
  const isDecade = /^\d{3}0(?:s|er)$/.test(text) || (Number(readings[0]?.value) % 10 === 0 && has("decades"));
  const isDifference = unit?.id === "points" || unit?.id === "bp";
  if (isDecade || isDifference || has("spans") || (unit?.kind === "time" && has("ago"))) return "loose";
  return (["about", "over", "under"] as const).find(has) ?? "plain";
}

/** Reads a number in words, such as `zweiundzwanzigtausend`. */
function readNumberWords(words: string, vocabulary: Vocabulary): number {
  const { atoms, atom } = patterns(vocabulary);
  let [total, part] = [0, 0];
  const names = listMatches(atom, words.replaceAll("-", " "));
  for (const [name] of names) {
    const value = atoms.get(name) ?? 0;
    if (value === 1_000) [total, part] = [total + (part || 1) * value, 0];
    else part = value === 100 ? (part || 1) * value : part + value;
  }
  // Without number words it is an article, as in "a million", which counts as one.
  return names.length === 0 ? 1 : total + part;
}

function buildExactReading(value: number): Reading {
  return { value, step: 1, zeros: 0 };
}

/** Lists the possible values of digits: a comma or point before three digits may group them or begin a fraction. */
function listDigitReadings(digits: string): Reading[] {
  if (/e/.test(digits))
    return [{ ...buildExactReading(Number(digits)), step: Number(digits.replace(/.*e/, "1e")) }];
  const joined = digits.replace(/[^\d.,:]/g, "");
  const readings = GROUPED.flatMap(([mark, point, form]): Reading[] => {
    const [text, decimals = ""] = form.exec(joined) ?? [];
    // 1,000 is never 1 with three decimals.
    if (!text || decimals === "000") return [];
    const number = text.replaceAll(mark, "").replace(point, ".");
    const zeros = decimals === "" ? (/0*$/.exec(number)?.[0].length ?? 0) : 0;
    return [{ value: Number(number), step: 10 ** -decimals.length, zeros }];
  });
  return readings.length === 2 && readings[0]?.value === readings[1]?.value ? readings.slice(1) : readings;
}
