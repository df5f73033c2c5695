import { type DateFound, datesIn } from "./dates.js";
import { matchesIn } from "./tokens.js";
import { UNIT_BEHIND, type Unit, unitNamed } from "./units.js";

/** How exact a number is meant: "about 3 million" is met by 2,950,000, "more than" by what is larger. */
export type Bound = "exact" | "about" | "over" | "under";

/** A number of a text as it may be meant. */
export interface Quantity {
  kind: "number";
  /** As it stands in the text, with its unit. */
  text: string;
  /** Offsets in UTF-16 units; `end` is behind the last one. */
  start: number;
  end: number;
  /** Several where the digits can be read in two ways: `1.600` is 1600 in German. Not empty. */
  values: readonly number[];
  unit: Unit | undefined;
  bound: Bound;
  /** Whether it is written as a word. */
  isWord: boolean;
}
/** A version, a time of day, an address: digits that are compared as they are written. */
export interface Literal {
  kind: "literal";
  text: string;
  start: number;
  end: number;
}
export type Dated = DateFound & { kind: "date"; text: string };
export type Said = Quantity | Literal | Dated;

const ONES = {
  en: "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
  de: "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
};
const TENS = {
  en: "twenty thirty forty fifty sixty seventy eighty ninety",
  de: "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
};
/** The words for numbers, in lower case; a hyphen is a space. */
const WORDS = new Map<string, number>([
  ["one", 1],
  ["dozen", 12],
  ["dutzend", 12],
  ["hundred", 100],
  ["hundert", 100],
]);
for (const list of Object.values(ONES)) list.split(" ").forEach((word, n) => void WORDS.set(word, n));
for (const list of Object.values(TENS))
  list.split(" ").forEach((word, i) => void WORDS.set(word, 10 * i + 20));
for (const [i, ten] of TENS.en.split(" ").entries())
  for (const [n, one] of ONES.en.split(" ").slice(1, 10).entries())
    WORDS.set(`${ten} ${one}`, 10 * i + 21 + n);
for (const [n, one] of ["ein", ...ONES.de.split(" ").slice(2)].entries())
  WORDS.set(`${one}hundert`, 100 * (n + 1)).set(`${one}tausend`, 1_000 * (n + 1));
for (const [i, ten] of TENS.de.split(" ").entries())
  for (const [n, one] of ONES.de.split(" ").slice(1, 10).entries())
    WORDS.set(`${one.replace(/s$/, "")}und${ten}`, 10 * i + 21 + n);

/** What multiplies a number before it. A billion is a million millions in most languages but English. */
const POWERS: readonly [words: string, ...factors: number[]][] = [
  ["hundred hundert", 1e2],
  ["thousand thousands tausend tsd. tsd k mille mil", 1e3],
  ["million millions millionen mio. mio mn millón millones milioni", 1e6],
  ["milliarde milliarden milliard milliards miliardi mrd. mrd bn", 1e9],
  ["billion billions", 1e9, 1e12],
  ["trillion trillions", 1e12, 1e18],
  ["tn billionen billón billones", 1e12],
];
const FACTORS = new Map(
  POWERS.flatMap(([words, ...factors]) => words.split(" ").map((word) => [word, factors] as const)),
);
const POWER = `(?:${[...FACTORS.keys()]
  .sort((a, b) => b.length - a.length)
  .join("|")
  .replaceAll(".", "\\.")})(?![\\p{L}\\p{N}])`;
/** What multiplies the numbers under a head of a column, as in `Costs (million euros)`, `€m` or `$'000`. */
export function factorsIn(head: string): number[] {
  return matchesIn(HEAD_POWER, head).flatMap(
    ([word]) => FACTORS.get(word.toLowerCase()) ?? (word === "m" ? 1e6 : 1e3),
  );
}
const HEAD_POWER = new RegExp(
  `(?<![\\p{L}\\p{N}]|\\d\\s)${POWER}|(?<=[$€£¥]\\s?|\\b(?:EUR|USD|GBP|CHF)\\s?)m(?!\\p{L})|(?<=['’])000`,
  "giu",
);

/** Right behind digits, or behind an amount of money: a letter that multiplies, or is a unit. */
const LETTERS: Readonly<Record<string, number>> = { m: 1e6, b: 1e9 };
const FRACTIONS: Readonly<Record<string, number>> = {
  "¼": 1 / 4,
  "⅓": 1 / 3,
  "½": 1 / 2,
  "⅔": 2 / 3,
  "¾": 3 / 4,
};

const SPACE = "[ \\u00a0\\u2009\\u202f]";
const DIGITS = `\\d{1,3}(?:[\\u00a0\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d+(?:[.,:·]\\d+)*|\\.\\d+`;
const WORD_NUMBER = [...WORDS.keys()]
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replace(" ", "[ -]"))
  .join("|");
const NUMBER = new RegExp(
  [
    `(?<money>US\\$|[$€£¥]|(?<![\\p{L}])(?:USD|EUR|GBP|CHF)${SPACE}?)?`,
    `(?<sign>(?<![\\p{L}\\p{N}_)\\]])[-−])?`,
    `(?<![\\p{L}\\p{N}_])(?:v?(?<digits>${DIGITS})(?:st|nd|rd|th|(?<fraction>[¼⅓½⅔¾]))?|(?<word>${WORD_NUMBER})(?![\\p{L}\\p{N}])(?<hundred>[ -]hundred(?:(?:[ -]and)?[ -](?<rest>${WORD_NUMBER})(?![\\p{L}\\p{N}]|[ -]hundred))?)?)`,
    `(?:(?:${SPACE}|-)?(?<power>${POWER}))?`,
    `(?:(?:${SPACE}|-)?(?<unit>${UNIT_BEHIND})(?![\\p{L}\\p{N}]))?`,
  ].join(""),
  "giu",
);
const GROUPED = /^\d{1,3}(?:([\u00a0\u2009\u202f'’ ])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/;
const MONEY_NEXT = "\\s*(?:[$€£¥]|US\\$|(?:USD|EUR|GBP|CHF)\\s)?$";
/** Before a number, and behind it. */
const BOUNDS: readonly [Bound, before: RegExp, behind: RegExp][] = [
  [
    "about",
    new RegExp(
      `(?:(?<!\\p{L})(?:about|roughly|nearly|almost|some|around|approximately|approx\\.?|estimated|close to|circa|c\\.|ca\\.|zirka|rund|etwa|ungefähr|knapp|fast|gut|nahezu|beinahe|annähernd|schätzungsweise|an die)|[~≈])${MONEY_NEXT}`,
      "iu",
    ),
    /^ or so\b/i,
  ],
  [
    "over",
    new RegExp(
      `(?:(?<!\\p{L})(?:more than|over|above|at least|exceed(?:s|ed|ing)?|in excess of|upwards of|mehr als|über|mindestens)|[>≥])${MONEY_NEXT}`,
      "iu",
    ),
    /^(?:\+| or more\b| oder mehr\b)/i,
  ],
  [
    "under",
    new RegExp(
      `(?:(?<!\\p{L})(?:less than|fewer than|under|below|up to|at most|weniger als|unter|bis zu|höchstens)|[<≤])${MONEY_NEXT}`,
      "iu",
    ),
    /^(?: or less\b| or fewer\b| oder weniger\b)/i,
  ],
];
/** How far before a number its bound is looked for, in characters. */
const BOUND_REACH = 32;
/** The first number of two that share their bound: `about 30 to 40`. */
const FIRST_OF_TWO = /(?<=[\s~≈><≥≤])\d[\d.,]*\s?%?\s*(?:[-–—]|(?:to|and|bis|und)\s)\s*$/iu;

/**
 * The numbers and dates of a text, in their order. Digits inside a word (`IPv6`) are no number; those behind a hyphen
 * (`GPT-4`) are one.
 */
export function saidIn(text: string): Said[] {
  const dates = datesIn(text).map(
    (date): Dated => ({ ...date, kind: "date", text: text.slice(date.start, date.end) }),
  );
  // Blanked, so that no number is read out of a date.
  let rest = "";
  let at = 0;
  for (const { start, end } of dates) {
    rest += text.slice(at, start) + " ".repeat(end - start);
    at = end;
  }
  rest += text.slice(at);
  const numbers = matchesIn(NUMBER, rest).map((match) => numberOf(match, rest));
  return [...dates, ...numbers].sort((a, b) => a.start - b.start);
}

function numberOf(match: RegExpExecArray, text: string): Quantity | Literal {
  const {
    money,
    sign = "",
    digits,
    fraction = "",
    word,
    hundred,
    rest,
    power = "",
    unit,
  } = match.groups ?? {};
  const start = match.index;
  const place = { text: match[0].trim(), start, end: start + match[0].length };
  const behind = text.slice(place.end, place.end + 12);
  const isTime = /^\d\d?\.\d\d$/.test(digits ?? "") && /^\s?Uhr\b/.test(behind);
  const plain = (digits ?? "").replace(isTime ? "." : "·", isTime ? ":" : ".");
  // A number in floating point has 15 digits that hold.
  const all = plain.replace(/\D/g, "");
  if (all.length > 15) return { kind: "literal", ...place, text: all };
  const isLiteral = plain.includes(":") || (/[.,]\d+[.,]\d+/.test(plain) && readingsOf(plain).length === 0);
  if (isLiteral) return { kind: "literal", ...place, text: plain };
  const isNext = money !== undefined || /\d\p{L}$/u.test(match[0]);
  const letter = isNext ? (unit ?? "").toLowerCase() : "";
  const times = [
    ...(FACTORS.get(power.toLowerCase()) ?? [1]),
    ...(power === "" && Object.hasOwn(LETTERS, letter) ? [LETTERS[letter] ?? 1] : []),
  ];
  const isPower = times.length > 1 && power === "";
  const named = (name = "") => WORDS.get(name.toLowerCase().replace("-", " ")) ?? 0;
  const read =
    digits === undefined
      ? [named(word) * (hundred === undefined ? 1 : 100) + named(rest)]
      : readingsOf(plain).map((value) => value + (FRACTIONS[fraction] ?? 0));
  const before = text.slice(Math.max(0, start - BOUND_REACH), start);
  // `2021/22` are two years.
  const year = /^\d\d$/.test(plain) ? /(?<!\d)(1\d|20)\d\d[-–/]$/.exec(before)?.[1] : undefined;
  if (year !== undefined) read.push(Number(year + plain));
  const values = read.flatMap((value) => times.map((factor) => (sign === "" ? value : -value) * factor));
  return {
    kind: "number",
    ...place,
    values,
    unit: unitNamed((money !== undefined && isPower ? money : (unit ?? money ?? "")).trim()),
    // Asked for the numbers of a sentence alone, and not for those of the pages that it cites.
    get bound() {
      const first = before.replace(FIRST_OF_TWO, "");
      return BOUNDS.find(([, over, then]) => over.test(first) || then.test(behind))?.[0] ?? "exact";
    },
    isWord: digits === undefined && power === "",
  };
}

/** What digits with separators may stand for: a comma or a point with three digits behind it groups, or begins a fraction. */
function readingsOf(digits: string): number[] {
  if (/^\d+$/.test(digits)) return [Number(digits)];
  if (GROUPED.test(digits)) return [Number(digits.replace(/[^\d.,]/g, "").replace(",", "."))];
  if (/^\d*[.,]\d+$/.test(digits)) {
    const fraction = Number(digits.replace(",", "."));
    return /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)
      ? [Number(digits.replace(/[.,]/, "")), fraction]
      : [fraction];
  }
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(digits)) return [Number(digits.replaceAll(",", ""))];
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(digits))
    return [Number(digits.replaceAll(".", "").replace(",", "."))];
  return [];
}
