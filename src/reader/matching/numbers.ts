import type { Vocabulary } from "../languages/languages.js";
import {
  buildAlternation,
  cacheByVocabulary,
  IN_WORD,
  listMatches,
  lowerCase,
  type Token,
} from "../languages/patterns.js";
import { type DateInText, findDates, removeDates } from "./dates.js";
import { ORDER, type Unit, unitNames } from "./units.js";

/** A possible value of a number; `step`: the place of its last written digit; `zeros`: trailing zeros of a whole number. */
export interface Reading {
  value: number;
  step: number;
  zeros: number;
}

/**
 * How a number is limited. "loose": a page may state it in other words: a decade, a century, a difference in percentage
 * points, a time "ago".
 */
export type Bound = "plain" | "about" | "over" | "under" | "loose";

/** A number in a text with its possible values; `text` is as written, with its unit. */
export interface Quantity extends Token {
  kind: "number";
  /** Several if the digits are ambiguous: `1.600` is 1600 in German. Not empty. */
  readings: readonly Reading[];
  /** The factor of its power word, such as `billion`; 1 without one. */
  factor: number;
  unit: Unit | undefined;
  bound: Bound;
  /** Whether it is written as a word. */
  isWord: boolean;
}

/** A time of day, a version or an address: digits that are compared as written. `2:30 pm` has two values; one is 14:30. */
export interface Code extends Token {
  kind: "code";
  values: readonly string[];
}

/** A number, code or date, which another text may write in another form. */
export type Figure = Quantity | Code | DateInText;

/** Powers of Chinese, Japanese and Korean that may be followed by the rest of the number: `1億2500万`. */
const GOES_ON = /[千万萬億亿兆백천만억조]$/;
/** A letter right after digits or money that multiplies them. */
const LETTERS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, mm: 1e6, b: 1e9, t: 1e12 };
const SPACE = "[ \\u00a0\\u2007\\u2009\\u202f]";
const CURRENCY = `(?:us|a|c|hk|nz|r)?\\$|[€£¥₹]|(?<!${IN_WORD})(?:usd|eur|gbp|chf|jpy|cny|rmb|inr|nok|sek|dkk|pln|cad|aud|rs\\.?|kr\\.?)`;
/** A telephone number, ISBN or file number is no amount; it has three groups or more. */
const IDENTIFIER = "\\d+(?:-\\d+){2,}";
const DIGITS = `\\d{1,3}(?:[\\u00a0\\u2007\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d(?:\\.\\d+)?e[-+]?\\d\\d?(?!${IN_WORD})|\\d+(?:[.,:·]\\d+)*|\\.\\d+`;
/** Whole numbers with or without groups and a fraction, by the mark that groups them. */
const GROUPED: readonly (readonly [mark: string, point: string, form: RegExp])[] = [
  [",", ".", /^(?:\d*|[1-9]\d{0,2}(?:,\d{2,3})*,\d{3})(?:\.(\d+))?$/],
  [".", ",", /^(?:\d*|[1-9]\d{0,2}(?:\.\d{2,3})*\.\d{3})(?:,(\d+))?$/],
];
/** A digit of another script. The digits of a script begin at a multiple of 16, and those of the scripts of India 6 later. */
const SCRIPT_DIGIT = /[^\P{Nd}0-9]/gu;
/** How far from a number its bounding words may be, in characters. */
const REACH = 32;
/** How many digits of a floating-point number are exact. */
const MOST_DIGITS = 15;
/** The patterns of numbers in the words of some languages. */
const patterns = cacheByVocabulary((vocabulary) => {
  const buildTable = (entries: [word: string, value: number | string][], begin = 0, step = 1) =>
    new Map(entries.map(([word, value]) => [word.replaceAll("-", " "), begin + step * Number(value)]));
  const ordinals = buildTable(vocabulary.listOrdered("ordinals"), 1);
  const tens = buildTable(vocabulary.listOrdered("tens"), 20, 10);
  const cardinals = new Map([
    ...buildTable(vocabulary.listOrdered("ones")),
    ...tens,
    ...buildTable(vocabulary.listEntries("numbers")),
  ]);
  const atoms = new Map([...ordinals, ...cardinals]);
  const large = buildAlternation([...cardinals].flatMap(([name, value]) => (value >= 100 ? name : [])));
  const [atom, ten, and, article] = [
    cardinals.keys(),
    tens.keys(),
    vocabulary.list("and"),
    vocabulary.list("articles"),
  ].map(buildAlternation);
  const nth = `${buildAlternation(ordinals.keys())}${IN_WORD}{0,4}`;
  const powers = buildTable(vocabulary.listEntries("powers").reverse());
  const fractions = buildTable(vocabulary.listEntries("fractions"));
  const heads = buildTable(vocabulary.listEntries("heads"));
  const names = [...powers.keys()];
  const spelt = buildAlternation(names.filter((word) => !GOES_ON.test(word)));
  const power = `(?:${buildAlternation(names.filter((word) => GOES_ON.test(word)))}|${spelt}(?!${IN_WORD})(?:\\.(?=\\s?[a-z€$£]))?)`;
  const part = `[ -](?<part>${buildAlternation(fractions.keys())})(?!${IN_WORD})`;
  const join = `(?:(?<=${large})[ -](?:${and}[ -])?|(?<=${ten})[ -](?:${and}[ -])?(?!${ten})|[ -](?=${large})|${and})?`;
  const word = `${atom}(?:${join}${atom})*(?:(?<=${ten})-(?<last>${nth}))?|${article}(?=[ -](?:${power}|${buildAlternation(fractions.keys())}))`;
  const clock = buildAlternation(vocabulary.list("clock"));
  /** Matches the words of a list right before a number or its currency, and right after it. */
  const matchAround = (name: string, sign = "(?!)") => {
    const words = vocabulary.list(name);
    const behind = buildAlternation(words.flatMap((each) => (each.startsWith("~") ? each.slice(1) : [])));
    const before = buildAlternation(words.filter((each) => !each.startsWith("~")));
    return new RegExp(
      `(?:(?<!${IN_WORD})${before}\\.?|${sign})\\s*(?:(?:${CURRENCY})\\s?)?\\0|\\0[ -]?${behind}(?!${IN_WORD})`,
    );
  };
  return {
    ...{ atoms, powers, fractions, heads },
    atom: new RegExp(buildAlternation(atoms.keys()), "g"),
    number: new RegExp(
      [
        `(?:(?<money>${CURRENCY})${SPACE}?\\(?)?(?<sign>(?<![_)\\]${IN_WORD.slice(1)})[-−–])?(?<![_${IN_WORD.slice(1)})`,
        `(?:v?(?:(?<identifier>${IDENTIFIER})|(?<digits>${DIGITS})|(?=[¼⅓½⅔¾]))(?<glyph>[¼⅓½⅔¾])?|(?<word>(?:${word})(?=-?fold|-?fach|(?!${IN_WORD})))(?:${part})?|(?<nth>${nth})(?!${IN_WORD}))`,
        `(?<order>(?:st|nd|rd|th|er|e|ème|x|-?fold|-?fache?)(?!${IN_WORD})|[ºªᵉ×])?(?:\\)?(?:${SPACE}|-)?(?<power>${power}|[kmbt](?=[€$£¥]))(?:${SPACE}(?:d[ei](?=${SPACE})|d['’]))?)?`,
        `(?:(?:${SPACE}|-)?(?<unit>${unitNames(vocabulary).pattern}|[kb])(?!${IN_WORD}))?`,
      ].join(""),
      "g",
    ),
    time: new RegExp(
      `(?<![.,:/_${IN_WORD.slice(1)})(?<hour>\\d\\d?)(?:(?::|h|\\.(?=\\d\\d\\s?${clock}))(?<minute>\\d\\d))?(?![\\d:])(?:\\s?(?:(?<half>[ap])\\.?m\\b|(?<clock>${clock})(?!${IN_WORD})))?`,
      "g",
    ),
    to: new RegExp(`^\\s*(?:[-–—/]|${buildAlternation(vocabulary.list("to"))})\\s*$`),
    and: new RegExp(`^\\.?\\s*(?:,?\\s*${and})?\\s*$`),
    head: new RegExp(
      `(?<!${IN_WORD}|\\d\\s)${power}|${buildAlternation(heads.keys())}(?!${IN_WORD})|(?<=[$€£¥]\\s?|\\b(?:eur|usd|gbp|chf)\\s?)m(?!${IN_WORD})|(?<!${IN_WORD})[km](?=[$€£¥])|(?<=[$€£(]|['’])000|\\b(?:in|x|×) 1[.,]?000\\b`,
      "g",
    ),
    bounds: {
      about: matchAround("about", "[~∼≈]"),
      over: matchAround("over", "[>≥]"),
      under: matchAround("under", "[<≤]"),
    },
    // The first of two numbers that share a bound: `about 30 to 40`.
    first: new RegExp(
      `(?<=[\\s~∼≈><≥≤])\\d[\\d.,]*\\s?%?\\s*(?:[-–—]|${buildAlternation(vocabulary.list("to"))}\\s)\\s*$`,
      "u",
    ),
    ...{ ago: matchAround("ago"), decades: matchAround("decades"), spans: matchAround("spans") },
  };
});

/**
 * Finds the numbers, times and dates of a text, in order. Digits inside a word (`IPv6`) are no number; digits after a hyphen
 * (`GPT-4`) are.
 */
export function findFigures(original: string, vocabulary: Vocabulary): Figure[] {
  const text = normalizeDigits(original);
  const { number, to, and, time } = patterns(vocabulary);
  const dates = findDates(text, vocabulary);
  const dateless = removeDates(text, dates);
  const times = listMatches(time, lowerCase(dateless)).flatMap((match) => readTime(match, dateless) ?? []);
  // Blanked, so that no number is read from a date or time.
  const rest = removeDates(dateless, times);
  const lower = lowerCase(rest);
  const cutBetween = (first: Token, second: Token) => lower.slice(first.end, second.start);
  const figures: (Quantity | Code)[] = [];
  for (const match of listMatches(number, lower)) {
    const figure = readNumber(match, rest, vocabulary);
    const last = figures.at(-1);
    if (figure?.kind === "number" && last?.kind === "number") {
      const whole = joinParts(last, figure, cutBetween(last, figure), and);
      if (whole) figures.pop();
      figures.push(whole ?? figure);
    } else if (figure) figures.push(figure);
  }
  // The first number of a range has the power and unit of the second: `1.2–1.3 billion euros`.
  for (const [i, first] of figures.entries()) {
    const second = figures[i + 1];
    if (first.kind !== "number" || second?.kind !== "number" || !to.test(cutBetween(first, second))) continue;
    // A year does not begin a range of percentages: `from 57.9 % in 2020 to 62.4 %`.
    if (/^(?:1[5-9]|20)\d\d$/.test(first.text) && second.unit) continue;
    first.unit ??= second.unit;
    if (first.factor === 1 && (second.unit === undefined || first.unit === second.unit))
      first.readings = [...first.readings, ...multiply(first.readings, second.factor)];
  }
  return [...dates, ...times, ...figures].sort((a, b) => a.start - b.start);
}

/** Finds the factors that a column head gives to its numbers: `Costs (million euros)`, `€m`, `M€`, `TEUR` or `$'000`. */
export function findFactors(head: string, vocabulary: Vocabulary): number[] {
  const { head: pattern, powers, heads } = patterns(vocabulary);
  return listMatches(pattern, lowerCase(head)).map(([sign]) => {
    const word = sign.replace(/\.$/, "");
    return powers.get(word) ?? heads.get(word) ?? LETTERS[word] ?? 1e3;
  });
}

export function multiply(readings: readonly Reading[], factor: number): Reading[] {
  return readings.map((each) => ({
    ...each,
    value: each.value * factor,
    step: each.step * Math.abs(factor),
  }));
}

/** Normalizes hyphens and digits and sets the hour off from a date; the length stays. */
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

/** Joins two parts of one number: `1億2500万`, `2 miliardi e 340 milioni`, `1 h 30 min`. */
function joinParts(first: Quantity, second: Quantity, between: string, and: RegExp): Quantity | undefined {
  if (first.text.length > REACH || second.readings.length === 0) return undefined;
  const isNext = GOES_ON.test(first.text)
    ? /^ ?$/.test(between)
    : second.factor > 1 && /^[^,.]*$/.test(between) && and.test(between);
  const goesOn = isNext && first.unit === undefined && (second.readings[0]?.value ?? 0) < first.factor;
  const [large, small] = [first.unit, second.unit].map((unit) =>
    unit?.kind === "time" ? unit.factors[0] : undefined,
  );
  const scale = large && small && small < large && and.test(between) ? small / large : undefined;
  if (!goesOn && scale === undefined) return undefined;
  const readings = first.readings.flatMap(({ value }) =>
    multiply(second.readings, scale ?? 1).map((part) => ({ ...part, value: value + part.value })),
  );
  const unit = scale === undefined ? (second.unit ?? first.unit) : first.unit;
  return { ...first, readings, unit, end: second.end, text: `${first.text}${between}${second.text}` };
}

/** Reads a time of day; undefined if the digits are only a number. */
function readTime({ 0: all, index: start, groups = {} }: RegExpExecArray, text: string): Code | undefined {
  const { hour, minute = "00", half, clock } = groups;
  if (groups.minute === undefined && half === undefined && clock === undefined) return undefined;
  const end = start + all.length;
  const values = [Number(hour), ...(half ? [(Number(hour) % 12) + (half === "p" ? 12 : 0)] : [])];
  return {
    kind: "code",
    text: text.slice(start, end),
    start,
    end,
    values: values.map((each) => `${each}:${minute}`),
  };
}

function readNumber(
  match: RegExpExecArray,
  text: string,
  vocabulary: Vocabulary,
): Quantity | Code | undefined {
  const { powers, fractions, atoms, atom, bounds, first } = patterns(vocabulary);
  const {
    identifier,
    digits = "",
    glyph,
    word,
    last,
    nth,
    part = "",
    order,
    money,
    sign,
    power = "",
    unit = "",
  } = match.groups ?? {};
  if (identifier !== undefined) return undefined;
  const start = match.index;
  const end = start + match[0].length;
  const place = { text: text.slice(start, end).trim(), start, end };
  const plain = digits.replace("·", ".");
  const all = plain.replace(/\D/g, "");
  const read = readDigits(plain);
  // `U+0001` is not an amount.
  if (/^0\d{3,}$/.test(plain) || all.length > MOST_DIGITS) return { kind: "code", ...place, values: [all] };
  if (digits !== "" && read.length === 0)
    return { kind: "code", ...place, values: [plain.replace(/^0(?=\d:)/, "")] };
  const cutBefore = (length: number) => text.slice(Math.max(0, start - length), start);
  const spelt = word ?? nth;
  if (spelt !== undefined) read.push(buildExact(readWords(spelt, atoms, atom) / (fractions.get(part) ?? 1)));
  if (glyph !== undefined) {
    const [over = 0, under = 1] = glyph.normalize("NFKD").split("⁄").map(Number);
    read.splice(0, 2, { ...buildExact((read[0]?.value ?? 0) + over / under), step: 0.01 });
  }
  // `2021/22` is two years.
  const century = /^\d\d$/.test(plain) && /(?<!\d)(1\d|20)\d\d[-–/]$/.exec(cutBefore(6))?.[1];
  if (century) read.push(buildExact(Number(century + plain)));
  const factor = powers.get(power.replace(/\.$/, "")) ?? LETTERS[power] ?? 1;
  const isLetter = power === "" && (money !== undefined || /\d\s?[a-z]$/.test(match[0]));
  const letter = (isLetter && LETTERS[unit]) || undefined;
  const readings = [
    ...(letter && money ? [] : multiply(read, factor)),
    ...(letter ? multiply(read, letter) : []),
  ];
  // A key may name the unit: `delay_ms: 250`. Units are case-sensitive: MB is not Mb.
  const key =
    /[:=]/.test(cutBefore(3)) && /[_(](\p{L}+)\)?["'`]?\s?[:=]\s?["']?$/u.exec(cutBefore(REACH))?.[1];
  const written = (letter && money) || (unit && text.slice(end - unit.length, end)) || money || key || "";
  const isOrder =
    (nth ?? last ?? order) !== undefined || (all.length < 3 && /^\. \p{L}/u.test(text.slice(end, end + 4)));
  const matchAround = () =>
    `${lowerCase(cutBefore(REACH)).replace(first, "")}\0${lowerCase(text.slice(end, end + REACH))}`;
  return {
    kind: "number",
    ...place,
    readings: sign === undefined ? readings : multiply(readings, -1),
    factor: letter && money ? letter : factor,
    unit: unitNames(vocabulary).findUnit(written.trim()) ?? (isOrder ? ORDER : undefined),
    // A getter, since only the numbers of sentences need it, and those of pages do not.
    get bound(): Bound {
      const context = matchAround();
      if (isLoose(this, context, vocabulary)) return "loose";
      return (["about", "over", "under"] as const).find((name) => bounds[name].test(context)) ?? "plain";
    },
    isWord: spelt !== undefined && power === "",
  };
}

/** Whether a page may state a number in other words; `context`: the text around it, with a NUL in its place. */
function isLoose({ text, unit, readings }: Quantity, context: string, vocabulary: Vocabulary): boolean {
  const { ago, decades, spans } = patterns(vocabulary);
  const isDecade =
    /^\d{3}0(?:s|er)$/.test(text) || (Number(readings[0]?.value) % 10 === 0 && decades.test(context));
  const isDifference = unit?.id === "points" || unit?.id === "bp";
  return isDecade || isDifference || spans.test(context) || (unit?.kind === "time" && ago.test(context));
}

/** Reads a number written in words, such as `zweiundzwanzigtausend`. */
function readWords(words: string, atoms: ReadonlyMap<string, number>, atom: RegExp): number {
  let [total, part] = [0, 0];
  const names = listMatches(atom, words.replaceAll("-", " "));
  for (const [name] of names) {
    const value = atoms.get(name) ?? 0;
    if (value === 1_000) [total, part] = [total + (part || 1) * value, 0];
    else part = value === 100 ? (part || 1) * value : part + value;
  }
  // An article, as in "a million", counts as one.
  return names.length === 0 ? 1 : total + part;
}

function buildExact(value: number): Reading {
  return { value, step: 1, zeros: 0 };
}

/** Lists the values of digits with separators: a comma or point before three digits groups them, or begins a fraction. */
function readDigits(digits: string): Reading[] {
  if (/e/.test(digits)) return [{ ...buildExact(Number(digits)), step: Number(digits.replace(/.*e/, "1e")) }];
  const joined = digits.replace(/[^\d.,:]/g, "");
  const readings = GROUPED.flatMap(([mark, point, form]): Reading[] => {
    const [text, decimals = ""] = form.exec(joined) ?? [];
    // 1,000 is never 1 with three exact decimals.
    if (!text || decimals === "000") return [];
    const number = text.replaceAll(mark, "").replace(point, ".");
    const zeros = decimals === "" ? (/0*$/.exec(number)?.[0].length ?? 0) : 0;
    return [{ value: Number(number), step: 10 ** -decimals.length, zeros }];
  });
  return readings.length === 2 && readings[0]?.value === readings[1]?.value ? readings.slice(1) : readings;
}
