import { type DateFound, datesIn } from "./dates.js";
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
for (const [i, ten] of TENS.de.split(" ").entries())
  for (const [n, one] of ONES.de.split(" ").slice(1, 10).entries())
    WORDS.set(`${one.replace(/s$/, "")}und${ten}`, 10 * i + 21 + n);

/** What multiplies a number before it. A billion is a million millions in most languages but English. */
const POWERS: readonly [words: string, ...factors: number[]][] = [
  ["hundred hundert cent", 1e2],
  ["thousand tausend tsd. tsd k mille mil", 1e3],
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
/** What multiplies the numbers under a head of a column, as in `Costs (million euros)`. */
export function factorsIn(head: string): number[] {
  return [...head.matchAll(HEAD_POWER)].flatMap(([word]) => FACTORS.get(word.toLowerCase()) ?? []);
}
const HEAD_POWER = new RegExp(`(?<![\\p{L}\\p{N}]|\\d\\s)${POWER}`, "giu");

/** Behind digits without a space, or behind an amount of money: a letter that multiplies, or is a unit. */
const LETTERS: Readonly<Record<string, number>> = { M: 1e6, B: 1e9 };

const SPACE = "[ \\u00a0\\u2009\\u202f]";
const DIGITS = `\\d{1,3}(?:[\\u00a0\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d+(?:[.,:]\\d+)*|\\.\\d+`;
const WORD_NUMBER = [...WORDS.keys()]
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replace(" ", "[ -]"))
  .join("|");
const NUMBER = new RegExp(
  [
    `(?<money>US\\$|[$€£¥]|(?<![\\p{L}])(?:USD|EUR|GBP|CHF)${SPACE}?)?`,
    `(?<sign>(?<![\\p{L}\\p{N}_)\\]])[-−])?`,
    `(?:(?<![\\p{L}\\p{N}_])v?(?<digits>${DIGITS})(?:st|nd|rd|th)?|(?<![\\p{L}\\p{N}_])(?<word>${WORD_NUMBER})(?![\\p{L}\\p{N}]))`,
    `(?:(?:${SPACE}|-)?(?<power>${POWER}))?`,
    `(?:(?:${SPACE}|-)?(?<unit>${UNIT_BEHIND})(?![\\p{L}\\p{N}]))?`,
  ].join(""),
  "giu",
);
const GROUPED = /^\d{1,3}(?:([\u00a0\u2009\u202f'’ ])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/;
const BOUNDS: readonly [Bound, RegExp][] = [
  [
    "about",
    /(?:\b(?:about|roughly|nearly|almost|some|around|approximately|approx\.?|circa|ca\.|rund|etwa|ungefähr|knapp|fast|gut)|[~≈])\s*(?:[$€£¥]|US\$)?$/iu,
  ],
  ["over", /\b(?:more than|over|above|at least|mehr als|über|mindestens)\s*(?:[$€£¥]|US\$)?$/iu],
  [
    "under",
    /\b(?:less than|fewer than|under|below|up to|at most|weniger als|unter|bis zu|höchstens)\s*(?:[$€£¥]|US\$)?$/iu,
  ],
];
/** How far before a number its bound is looked for, in characters. */
const BOUND_REACH = 16;

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
  const numbers = [...rest.matchAll(NUMBER)].map((match) => numberOf(match, rest));
  return [...dates, ...numbers].sort((a, b) => a.start - b.start);
}

function numberOf(match: RegExpMatchArray, text: string): Quantity | Literal {
  const { money, sign = "", digits, word, power = "", unit } = match.groups ?? {};
  const start = match.index ?? 0;
  const place = { text: match[0].trim(), start, end: start + match[0].length };
  const plain = digits ?? "";
  const isLiteral = plain.includes(":") || (/[.,]\d+[.,]\d+/.test(plain) && readingsOf(plain).length === 0);
  if (isLiteral) return { kind: "literal", ...place, text: plain };
  const letter = money === undefined ? (unit ?? "") : (unit ?? "").toUpperCase();
  const times = [
    ...(FACTORS.get(power.toLowerCase()) ?? [1]),
    ...(power === "" && Object.hasOwn(LETTERS, letter) ? [LETTERS[letter] ?? 1] : []),
  ];
  const isPower = times.length > 1 && power === "";
  const read =
    digits === undefined
      ? [WORDS.get((word ?? "").toLowerCase().replace("-", " ")) ?? Number.NaN]
      : readingsOf(plain);
  const values = read.flatMap((value) => times.map((factor) => (sign === "" ? value : -value) * factor));
  const before = text.slice(Math.max(0, start - BOUND_REACH), start);
  return {
    kind: "number",
    ...place,
    values,
    unit: unitNamed((isPower ? (money ?? "") : (unit ?? money ?? "")).trim()),
    bound: BOUNDS.find(([, pattern]) => pattern.test(before))?.[0] ?? "exact",
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
