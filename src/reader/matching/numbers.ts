import type { Vocabulary } from "../languages/languages.js";
import { forVocabulary, IN_WORD, lowerCase, matchesIn, oneOf, type Token } from "../languages/patterns.js";
import { type DateInText, findDates, withoutDates } from "./dates.js";
import { ORDER, type Unit, unitNames } from "./units.js";

/** A value that a number may have. */
export interface Reading {
  value: number;
  /** The place of its last written digit: 0.01 billion of 1.24 billion. */
  step: number;
  /** How many zeros a whole number ends with. */
  zeros: number;
}

/**
 * How a number is meant. "loose" is what no page needs to state in these words: a decade, a century, a difference in
 * percentage points, a time "ago".
 */
export type Bound = "plain" | "about" | "over" | "under" | "loose";

/** A number of a text as it may be meant; its text is as it stands there, with its unit. */
export interface Quantity extends Token {
  kind: "number";
  /** Several where the digits can be read in two ways: `1.600` is 1600 in German. Not empty. */
  readings: readonly Reading[];
  /** What its power multiplies by, as `billion`; 1 without one. */
  factor: number;
  unit: Unit | undefined;
  bound: Bound;
  /** Whether it is written as a word. */
  isWord: boolean;
}

/** A time of day, a version, an address: digits that are compared as they are written. */
export interface Code extends Token {
  kind: "code";
  /** Several where it can be read in two ways: `2:30 pm` is 14:30, too. Not empty. */
  values: readonly string[];
}

/** Something that a text states and another text may state in another form. */
export type Figure = Quantity | Code | DateInText;

/** Powers of Chinese, Japanese and Korean, behind which a number may go on: `1億2500万`. */
const GOES_ON = /[千万萬億亿兆백천만억조]$/;
/** Right behind digits, or behind an amount of money: a letter that multiplies. */
const LETTERS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, mm: 1e6, b: 1e9, t: 1e12 };
const SPACE = "[ \\u00a0\\u2007\\u2009\\u202f]";
const CURRENCY = `(?:us|a|c|hk|nz|r)?\\$|[€£¥₹]|(?<!${IN_WORD})(?:usd|eur|gbp|chf|jpy|cny|rmb|inr|nok|sek|dkk|pln|cad|aud|rs\\.?|kr\\.?)`;
/** The number of a telephone, a book or a file counts nothing; its groups are more than two. */
const IDENTIFIER = "\\d+(?:-\\d+){2,}";
const DIGITS = `\\d{1,3}(?:[\\u00a0\\u2007\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d(?:\\.\\d+)?e[-+]?\\d\\d?(?!${IN_WORD})|\\d+(?:[.,:·]\\d+)*|\\.\\d+`;
/** How far around a number the words that bound it are looked for, in characters. */
const REACH = 32;
/** Only so many digits of a floating-point number are exact. */
const MOST_DIGITS = 15;
/** The first number of two that share their bound: `about 30 to 40`. */
const FIRST_OF_TWO = /(?<=[\s~∼≈><≥≤])\d[\d.,]*\s?%?\s*(?:[-–—]|\p{L}+\s)\s*$/u;

/** The patterns of numbers in the words of some languages. */
const patterns = forVocabulary((vocabulary) => {
  const table = (
    entries: [word: string, value: number | string][],
    read: (value: number) => number = Number,
  ) => new Map(entries.map(([word, value]) => [word.replaceAll("-", " "), read(Number(value))]));
  const ones = table(vocabulary.ordered("ones"));
  const tens = table(vocabulary.ordered("tens"), (i) => 10 * i + 20);
  const large = table(vocabulary.entries("numbers"));
  const glued = table(vocabulary.entries("glued"));
  const ordinals = table(vocabulary.ordered("ordinals"), (i) => i + 1);
  const atoms = new Map([...glued, ...ones, ...tens, ...large, ...ordinals]);
  const [one, ten, more, and] = [
    [...ones.keys(), ...glued.keys()],
    tens.keys(),
    large.keys(),
    vocabulary.list("and"),
  ].map(oneOf);
  const nth = `${oneOf(ordinals.keys())}${IN_WORD}{0,4}`;
  const below = `(?:(?:${one}${and})?${ten}(?:(?:[ -]|${SPACE}${and}${SPACE})?${one}|-${nth})?|${one}|${nth})`;
  const join = `(?:[ -](?:${and}[ -])?)?`;
  const words = `(?:${more}(?:${join}${more})?|${below}(?:${join}${more}(?:${join}${below})?(?:${join}${more})?)?)`;
  const powers = table(vocabulary.entries("powers").reverse());
  const heads = table(vocabulary.entries("heads"));
  const [glyph, spelt] = [true, false].map((goesOn) =>
    oneOf([...powers.keys()].filter((word) => GOES_ON.test(word) === goesOn)),
  );
  const power = `(?:${glyph}|${spelt}(?!${IN_WORD})(?:\\.(?=\\s?[a-z€$£]))?)`;
  /** The words of a list right before a number or its currency, and right behind it. */
  const around = (name: string, sign = "(?!)") => {
    const [before, behind] = [false, true].map((isBehind) =>
      oneOf(
        vocabulary
          .list(name)
          .flatMap((word) => (word.startsWith("~") === isBehind ? word.replace("~", "") : [])),
      ),
    );
    return {
      before: new RegExp(`(?:(?<!${IN_WORD})${before}\\.?|${sign})\\s*(?:(?:${CURRENCY})\\s?)?$`),
      behind: new RegExp(`^[ -]?${behind}(?!${IN_WORD})`),
    };
  };
  return {
    atoms,
    powers,
    heads,
    power,
    atom: new RegExp(oneOf(atoms.keys()), "g"),
    ordinal: new RegExp(`(?:^|[ -])${nth}$`),
    number: new RegExp(
      [
        `(?:(?<money>${CURRENCY})${SPACE}?\\(?)?`,
        `(?<sign>(?<![_)\\]${IN_WORD.slice(1)})[-−–])?`,
        `(?<![_${IN_WORD.slice(1)})(?:v?(?:(?<identifier>${IDENTIFIER})|(?<digits>${DIGITS})|(?=[¼⅓½⅔¾]))(?<fraction>[¼⅓½⅔¾])?|(?<word>${words})(?=-?fold|-?fach|(?!${IN_WORD})))`,
        `(?<nth>(?:st|nd|rd|th|er|e|ème|x|-?fold|-?fache?)(?!${IN_WORD})|[ºªᵉ×])?`,
        `(?:\\)?(?:${SPACE}|-)?(?<power>${power}))?`,
        `(?:(?:${SPACE}|-)?(?<unit>${unitNames(vocabulary).pattern}|[kb])(?!${IN_WORD}))?`,
      ].join(""),
      "g",
    ),
    time: new RegExp(
      `(?<![.,:/_${IN_WORD.slice(1)})(?<hour>\\d\\d?)(?:(?::|h|\\.(?=\\d\\d\\s?${oneOf(vocabulary.list("clock"))}))(?<minute>\\d\\d))?(?![\\d:])(?:\\s?(?:(?<half>[ap])\\.?m\\b|(?<clock>${oneOf(vocabulary.list("clock"))})(?!${IN_WORD})))?`,
      "g",
    ),
    to: new RegExp(`^\\s*(?:[-–—/]|${oneOf(vocabulary.list("to"))})\\s*$`),
    and: new RegExp(`^\\s*(?:,?\\s*${and})?\\s*$`),
    head: new RegExp(
      `(?<!${IN_WORD}|\\d\\s)${power}|${oneOf(heads.keys())}(?!${IN_WORD})|(?<=[$€£¥]\\s?|\\b(?:eur|usd|gbp|chf)\\s?)m(?!${IN_WORD})|(?<=[$€£(]|['’])000|\\b(?:in|x|×) 1[.,]?000\\b`,
      "g",
    ),
    about: around("about", "[~∼≈]"),
    over: around("over", "[>≥]"),
    under: around("under", "[<≤]"),
    ago: around("ago"),
    decades: around("decades"),
    centuries: around("centuries"),
  };
});

/**
 * The numbers, times and dates of a text, in their order. Digits inside a word (`IPv6`) are no number; those behind a hyphen
 * (`GPT-4`) are one.
 */
export function findFigures(original: string, vocabulary: Vocabulary): Figure[] {
  const text = normalizeDigits(original);
  const { number, to, and, time } = patterns(vocabulary);
  const dates = findDates(text, vocabulary);
  const dateless = withoutDates(text, dates);
  const times = matchesIn(time, lowerCase(dateless)).flatMap((match) => readTime(match, dateless) ?? []);
  // Blanked, so that no number is read out of a date or a time.
  const rest = withoutDates(dateless, times);
  const figures: (Quantity | Code)[] = [];
  for (const match of matchesIn(number, lowerCase(rest))) {
    const figure = readNumber(match, rest, vocabulary);
    const last = figures.at(-1);
    const whole = figure && last && joinParts(last, figure, lowerCase(rest), and);
    if (whole) figures.pop();
    if (figure) figures.push(whole ?? figure);
  }
  // The first of a range has the power and the unit of the second: `1.2–1.3 billion euros`.
  for (const [i, first] of figures.entries()) {
    const second = figures[i + 1];
    if (first.kind !== "number" || second?.kind !== "number") continue;
    if (!to.test(lowerCase(rest.slice(first.end, second.start)))) continue;
    first.unit ??= second.unit;
    if (first.factor === 1) first.readings = [...first.readings, ...multiply(first.readings, second.factor)];
  }
  return [...dates, ...times, ...figures].sort((a, b) => a.start - b.start);
}

/** What multiplies the numbers under a head of a column, as in `Costs (million euros)`, `€m`, `TEUR` or `$'000`. */
export function findFactors(head: string, vocabulary: Vocabulary): number[] {
  const { head: pattern, powers, heads } = patterns(vocabulary);
  return matchesIn(pattern, lowerCase(head)).map(([sign]) => {
    const word = sign.replace(/\.$/, "");
    return powers.get(word) ?? heads.get(word) ?? (word === "m" ? 1e6 : 1e3);
  });
}

/** The pattern of words that multiply a number before them. */
export function powerPattern(vocabulary: Vocabulary): string {
  return patterns(vocabulary).power;
}

export function multiply(readings: readonly Reading[], factor: number): Reading[] {
  return readings.map(({ value, step, zeros }) => ({
    value: value * factor,
    step: step * Math.abs(factor),
    zeros,
  }));
}

/** The value of a number that is written as words, such as `zweiundzwanzigtausend`; undefined if the text is none. */
export function readWords(words: string, vocabulary: Vocabulary): number | undefined {
  const { atom, atoms } = patterns(vocabulary);
  let total = 0;
  let part: number | undefined;
  for (const [word] of matchesIn(atom, words.replaceAll("-", " "))) {
    const value = atoms.get(word) ?? 0;
    if (value === 1_000) total += (part || 1) * value;
    part = value === 1_000 ? 0 : value === 100 ? (part || 1) * value : (part ?? 0) + value;
  }
  return part === undefined ? undefined : total + part;
}

/** `text` in its length with hyphens and digits of one kind, and the hour of a date set off. */
function normalizeDigits(text: string): string {
  return text
    .replace(/[‐‑]/g, "-")
    .replace(/(\d) h (\d\d)(?!\d| ?m)/g, "$1h$2  ")
    .replace(/(\d-\d\d)T(?=\d\d:)/g, "$1 ")
    .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[٬٫]/g, (mark) => (mark === "٬" ? "," : "."))
    .replace(/(?![0-9])\p{Nd}/gu, (digit) =>
      digit.length === 1 ? `${digitOf(digit.charCodeAt(0))}` : digit,
    );
}

/** Digits of other scripts stand ten in a row from a zero, in Unicode at …0 or at …6. */
function digitOf(code: number): number {
  const last = code & 15;
  return /\p{Nd}/u.test(String.fromCharCode(code - last)) ? last : last - 6;
}

/** Two numbers that are one: `1億2500万`, `1 h 30 min`. `text` is in small letters. */
function joinParts(
  first: Quantity | Code,
  second: Quantity | Code,
  text: string,
  and: RegExp,
): Quantity | undefined {
  if (first.kind !== "number" || second.kind !== "number" || first.text.length > REACH) return undefined;
  const between = text.slice(first.end, second.start);
  const goesOn = GOES_ON.test(first.text) && /^ ?$/.test(between) && second.factor < first.factor;
  const [large, small] = [first.unit, second.unit].map((unit) =>
    unit?.kind === "time" ? (unit.factors[0] ?? 0) : 0,
  );
  const isTime = !!large && !!small && small < large && and.test(between);
  if (!goesOn && !isTime) return undefined;
  const scale = isTime ? small / large : 1;
  const readings = first.readings.flatMap(({ value }) =>
    multiply(second.readings, scale).map((part) => ({ ...part, value: value + part.value })),
  );
  const unit = isTime ? first.unit : (second.unit ?? first.unit);
  return { ...first, readings, unit, end: second.end, text: `${first.text}${between}${second.text}` };
}

/** A time of day; undefined if the digits are only a number. */
function readTime(
  { 0: { length }, index: start, groups = {} }: RegExpExecArray,
  text: string,
): Code | undefined {
  const { hour, minute, half, clock } = groups;
  if (minute === undefined && half === undefined && clock === undefined) return undefined;
  const place = { text: text.slice(start, start + length), start, end: start + length };
  const read = `${Number(hour)}:${minute ?? "00"}`;
  const other = `${(Number(hour) % 12) + (half === "p" ? 12 : 0)}:${minute ?? "00"}`;
  return { kind: "code", ...place, values: half ? [read, other] : [read] };
}

function readNumber(
  match: RegExpExecArray,
  text: string,
  vocabulary: Vocabulary,
): Quantity | Code | undefined {
  const { powers, ordinal } = patterns(vocabulary);
  const {
    identifier,
    digits = "",
    money,
    power = "",
    unit = "",
    nth,
    sign,
    fraction,
    word,
  } = match.groups ?? {};
  const start = match.index;
  const end = start + match[0].length;
  const place = { text: text.slice(start, end).trim(), start, end };
  const plain = digits.replace("·", ".");
  const all = plain.replace(/\D/g, "");
  const values = readDigits(plain);
  if (identifier !== undefined) return undefined;
  // `U+0001` is not an amount.
  if (/^0\d{3,}$/.test(plain) || all.length > MOST_DIGITS) return { kind: "code", ...place, values: [all] };
  if (digits !== "" && values.length === 0)
    return { kind: "code", ...place, values: [plain.replace(/^0(?=\d:)/, "")] };
  const [before, behind] = [text.slice(Math.max(0, start - REACH), start), text.slice(end, end + REACH)].map(
    lowerCase,
  );
  const read = word === undefined ? values : [{ value: readWords(word, vocabulary) ?? 0, step: 1, zeros: 0 }];
  if (fraction !== undefined) {
    const [part = 0, whole = 1] = fraction.normalize("NFKD").split("⁄").map(Number);
    read.splice(0, read.length, { value: (values[0]?.value ?? 0) + part / whole, step: 0.01, zeros: 0 });
  }
  // `2021/22` are two years.
  const century = /^\d\d$/.test(plain) ? /(?<!\d)(1\d|20)\d\d[-–/]$/.exec(before ?? "")?.[1] : undefined;
  if (century !== undefined) read.push({ value: Number(century + plain), step: 1, zeros: 0 });
  const factor = powers.get(power.replace(/\.$/, "")) ?? 1;
  const isLetter = power === "" && (money !== undefined || /\d\s?[a-z]$/.test(match[0]));
  const letter = isLetter ? LETTERS[unit] : undefined;
  const readings = [
    ...(letter && money ? [] : multiply(read, factor)),
    ...(letter ? multiply(read, letter) : []),
  ];
  // A key may name the unit: `delay_ms: 250`.
  const key = /[_(](\p{L}+)\)?["'`]?\s?[:=]\s?["']?$/u.exec(before ?? "")?.[1] ?? "";
  // A unit is read as it is written: MB is no Mb.
  const written = unit && text.slice(end - unit.length, end);
  const named = unitNames(vocabulary).named(((letter && money) || written || (money ?? key)).trim());
  const isOrder =
    nth !== undefined || /^\. \p{L}/u.test(behind ?? "") || (word !== undefined && ordinal.test(word));
  return {
    kind: "number",
    ...place,
    readings: sign === undefined ? readings : multiply(readings, -1),
    factor: letter && money ? letter : factor,
    unit: named ?? (isOrder ? ORDER : undefined),
    // Asked for the numbers of a sentence alone, and not for those of the pages that it cites.
    get bound() {
      return boundOf(this, before ?? "", behind ?? "", vocabulary);
    },
    isWord: word !== undefined && power === "",
  };
}

/** What the words around a number of a sentence make of it. */
function boundOf(
  { text, unit, readings }: Quantity,
  before: string,
  behind: string,
  vocabulary: Vocabulary,
): Bound {
  const { about, over, under, ago, decades, centuries } = patterns(vocabulary);
  const isTen = (readings[0]?.value ?? 1) % 10 === 0;
  const isDecade =
    /^\d{3}0(?:s|er)$/.test(text) || decades.behind.test(behind) || decades.before.test(before);
  const isAgo = ago.behind.test(behind) || (unit?.kind === "time" && ago.before.test(before));
  const isDifference = unit?.id === "points" || unit?.id === "bp";
  if (isDifference || isAgo || (isTen && isDecade) || centuries.behind.test(behind)) return "loose";
  const first = before.replace(FIRST_OF_TWO, "");
  const has = (words: typeof about) => words.before.test(first) || words.behind.test(behind);
  return has(about) ? "about" : has(over) || behind.startsWith("+") ? "over" : has(under) ? "under" : "plain";
}

/** What digits with separators may stand for: a comma or a point with three digits behind it groups, or begins a fraction. */
function readDigits(digits: string): Reading[] {
  if (/e/.test(digits))
    return [{ value: Number(digits), step: Number(digits.replace(/.*e/, "1e")), zeros: 0 }];
  const joined = digits.replace(/[^\d.,:]/g, "");
  const values = [",", "."].flatMap((group): Reading[] => {
    const point = group === "," ? "." : ",";
    const form = new RegExp(
      `^(?:\\d*|[1-9]\\d{0,2}(?:[${group}]\\d{2,3})*[${group}]\\d{3})(?:[${point}](\\d+))?$`,
    );
    const [text, decimals = ""] = form.exec(joined) ?? [];
    // 1,000 is no 1 that is exact to three places.
    if (!text || decimals === "000") return [];
    const number = text.replaceAll(group, "").replace(point, ".");
    const zeros = decimals === "" ? (/0*$/.exec(number)?.[0].length ?? 0) : 0;
    return [{ value: Number(number), step: 10 ** -decimals.length, zeros }];
  });
  return values.filter(({ value }, i) => values.findIndex((other) => other.value === value) === i);
}
