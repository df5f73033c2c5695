import { type DateFound, datesIn, withoutDates } from "./dates.js";
import { matchesIn, type Token } from "./tokens.js";
import { ORDER, UNIT_BEHIND, type Unit, unitNamed } from "./units.js";

/**
 * How exact a number is meant: "about 3 million" is met by 2,950,000, "more than" by what is larger; a number of
 * millions is rounded, too, if nothing says so.
 */
export type Bound = "exact" | "rounded" | "about" | "over" | "under";

/** A number of a text as it may be meant; its text is as it stands there, with its unit. */
export interface Quantity extends Token {
  kind: "number";
  /** Several where the digits can be read in two ways: `1.600` is 1600 in German. Not empty. */
  values: number[];
  /** What its power multiplies by, as `billion`; 1 without one. */
  factors: readonly number[];
  unit: Unit | undefined;
  bound: Bound;
  /** Whether it is written as a word. */
  isWord: boolean;
}
/** A version, a time of day, an address: digits that are compared as they are written. */
export interface Literal extends Token {
  kind: "literal";
  /** Several where it can be read in two ways: `2:30 pm` is 14:30, too. Not empty. */
  values: readonly string[];
}
export type Dated = DateFound & { kind: "date"; text: string };
export type Said = Quantity | Literal | Dated;

const ONES = {
  en: "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
  de: "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
  // Without those that are another word, too.
  es: "cero uno dos tres cuatro cinco seis siete ocho nueve diez - doce trece catorce - dieciséis diecisiete dieciocho diecinueve veinte",
  fr: "zéro un deux trois quatre cinq six sept huit - dix onze douze treize quatorze quinze - - - - vingt",
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
  ["anderthalb", 1.5],
  ["eineinhalb", 1.5],
  ["zweieinhalb", 2.5],
  ["one and a half", 1.5],
  ["two and a half", 2.5],
]);
for (const list of Object.values(ONES))
  for (const [n, word] of list.split(" ").entries()) if (word !== "-") WORDS.set(word, n);
for (const list of Object.values(TENS))
  list.split(" ").forEach((word, i) => void WORDS.set(word, 10 * i + 20));
for (const [i, ten] of TENS.en.split(" ").entries())
  for (const [n, one] of ONES.en.split(" ").slice(1, 10).entries())
    WORDS.set(`${ten} ${one}`, 10 * i + 21 + n);
for (const [n, one] of ["ein", ...ONES.de.split(" ").slice(2)].entries())
  WORDS.set(`${one}hundert`, 100 * (n + 1));
for (const [i, ten] of TENS.de.split(" ").entries())
  for (const [n, one] of ONES.de.split(" ").slice(1, 10).entries())
    WORDS.set(`${one.replace(/s$/, "")}und${ten}`, 10 * i + 21 + n);
for (const [word, value] of [...WORDS, ["ein", 1] as const])
  if (/^[a-zäöüß]+$/.test(word) && value > 0 && value < 1_000) WORDS.set(`${word}tausend`, 1_000 * value);

/** What multiplies a number before it; `|` is a space. A billion is a million millions in most languages but English. */
const POWERS: readonly [words: string, ...factors: number[]][] = [
  ["dozen dutzend", 12],
  ["hundred hundert", 1e2],
  ["thousand thousands tausend tsd. tsd k mille mil тыс", 1e3],
  ["万 萬 만", 1e4],
  ["lakh lakhs", 1e5],
  [
    "million millions millionen mio. mio mn millón millones milione milioni milhão milhões miljoen miljoner millioner mln milyon млн миллион миллиона миллионов",
    1e6,
  ],
  ["crore crores", 1e7],
  ["億 亿 억", 1e8],
  [
    "milliarde milliarden milliard milliards miliardo miliardi miljard miljarder milliarder mld milyar млрд mrd. mrd md mds bn",
    1e9,
  ],
  ["mil|millones bilhão bilhões", 1e9],
  ["billion billions", 1e9, 1e12],
  ["trillion trillions", 1e12, 1e18],
  ["tn billionen billón billones 兆 조", 1e12],
];
const FACTORS = new Map(
  POWERS.flatMap(([words, ...factors]) =>
    words.split(" ").map((word) => [word.replace("|", " "), factors] as const),
  ),
);
/** What ends a part of a number that goes on: `1億2500万`. */
const GOES_ON = /[万萬만億亿억兆조]$/;
/** A character of a word, in scripts that part words by spaces: in others digits stand beside letters. */
const IN_WORD = "[\\p{sc=Latn}\\p{sc=Grek}\\p{sc=Cyrl}\\p{sc=Arab}\\p{sc=Hebr}\\p{sc=Deva}\\p{N}]";
/** For a pattern with `iu`: a word that multiplies the number before it. */
export const POWER = `(?:[万萬만億亿억兆조]|(?:${[...FACTORS.keys()]
  .filter((name) => !GOES_ON.test(name))
  .sort((a, b) => b.length - a.length)
  .join("|")
  .replaceAll(".", "\\.")})(?!${IN_WORD}))`;
/** What multiplies the numbers under a head of a column, as in `Costs (million euros)`, `€m`, `TEUR` or `$'000`. */
export function factorsIn(head: string): number[] {
  return matchesIn(HEAD_POWER, head).flatMap(
    ([word]) => FACTORS.get(word.toLowerCase()) ?? (word === "m" ? 1e6 : 1e3),
  );
}
const HEAD_POWER = new RegExp(
  `(?<![\\p{L}\\p{N}]|\\d\\s)${POWER}|(?<=[$€£¥]\\s?|\\b(?:EUR|USD|GBP|CHF)\\s?)m(?!\\p{L})|\\b[Tk](?=€|EUR\\b)|(?<=[$€£(]|['’])000|\\bin 1[.,]?000\\b`,
  "giu",
);

/** Right behind digits, or behind an amount of money: a letter that multiplies, or is a unit. */
const LETTERS = new Map([
  ["m", 1e6],
  ["mm", 1e6],
  ["b", 1e9],
  ["t", 1e12],
]);

const SPACE = "[ \\u00a0\\u2007\\u2009\\u202f]";
const CURRENCY = `(?:US|A|C|HK|NZ|R)?\\$|[€£¥₹]|(?<!\\p{L})(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|NOK|SEK|DKK|PLN|CAD|AUD|Rs\\.?|kr\\.?)`;
/** An ISBN or the number of a telephone. */
const CODE = "97[89]-?(?:\\d-?){9}\\d(?!\\d)|\\d+(?:-\\d+){3,}";
const DIGITS = `${CODE}|\\d{1,3}(?:[\\u00a0\\u2007\\u2009\\u202f'’ ]\\d{3})+(?!\\d)(?:[.,]\\d+)?|\\d(?:\\.\\d+)?e[-+]?\\d\\d?(?!${IN_WORD})|\\d+(?:[.,:·]\\d+)*|\\.\\d+`;
const WORD_NUMBER = [...WORDS.keys()]
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replace(" ", "[ -]"))
  .join("|");
const NUMBER = new RegExp(
  [
    `(?:(?<money>${CURRENCY})${SPACE}?\\(?)?`,
    `(?<sign>(?<![\\p{L}\\p{N}_)\\]])[-−])?`,
    `(?<![_${IN_WORD.slice(1)})(?:v?(?<digits>${DIGITS})(?:(?<nth>(?:st|nd|rd|th|er|e|ème|x|-?fold|-?fache?)(?!${IN_WORD})|[ºª×])|(?<fraction>[¼⅓½⅔¾]))?|(?<word>${WORD_NUMBER})(?![\\p{L}\\p{N}])(?<hundred>[ -]hundred(?:(?:[ -]and)?[ -](?<rest>${WORD_NUMBER})(?![\\p{L}\\p{N}]|[ -]hundred))?)?)`,
    `(?:\\)?(?:${SPACE}|-)?(?<power>${POWER}))?`,
    `(?:(?:${SPACE}|-)?(?<unit>${UNIT_BEHIND})(?!${IN_WORD}))?`,
  ].join(""),
  "giu",
);
const GROUPED = /^\d{1,3}(?:([\u00a0\u2007\u2009\u202f'’ ])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/;
const MONEY_NEXT = `\\s*(?:(?:${CURRENCY})\\s?)?$`;
const boundBefore = (words: string) => new RegExp(`(?:${words})${MONEY_NEXT}`, "iu");
/** Before a number, and behind it. */
const BOUNDS: readonly [Bound, before: RegExp, behind: RegExp][] = [
  [
    "about",
    boundBefore(
      "(?<!\\p{L})(?:about|roughly|nearly|almost|some|around|approximately|approx\\.?|estimated|close to|circa|c\\.|ca\\.|zirka|rund|etwa|ungefähr|knapp|fast|gut|nahezu|beinahe|annähernd|schätzungsweise|an die|aproximadamente|alrededor de|cerca de|casi|unos|unas|environ)|[~∼≈約约약]",
    ),
    /^ or so\b/i,
  ],
  [
    "over",
    boundBefore(
      "(?<!\\p{L})(?:more than|over|above|at least|exceed(?:s|ed|ing)?|in excess of|upwards of|mehr als|über|mindestens|wenigstens|más de|al menos|plus de|au moins)|[>≥]",
    ),
    /^(?:\+| or more\b| oder mehr\b)/i,
  ],
  [
    "under",
    boundBefore(
      "(?<!\\p{L})(?:less than|fewer than|under|below|up to|at most|as many as|as much as|weniger als|unter|bis zu|höchstens|menos de|hasta|como máximo|moins de|au plus)|[<≤]",
    ),
    /^(?: or less\b| or fewer\b| oder weniger\b)/i,
  ],
];
/** How far before a number its bound is looked for, in characters. */
const BOUND_REACH = 32;
/** The first number of two that share their bound: `about 30 to 40`. */
const FIRST_OF_TWO = /(?<=[\s~∼≈><≥≤])\d[\d.,]*\s?%?\s*(?:[-–—]|(?:to|and|bis|und)\s)\s*$/iu;

/** Before the two digits of a decade. */
const DECADE = /(?:\b(?:the|early|late|mid|den|der|frühen|späten)[ -]|['’])$/i;

const TO = /^\s*(?:[-–—/]|to|and|or|bis|auf|und|oder|a|y|à|et)\s*$/i;

/** Each of the values times each of the factors. */
export function multiplied(values: readonly number[], factors: readonly number[]): number[] {
  return values.flatMap((value) => factors.map((factor) => value * factor));
}

/**
 * The numbers and dates of a text, in their order. Digits inside a word (`IPv6`) are no number; those behind a hyphen
 * (`GPT-4`) are one.
 */
export function saidIn(original: string): Said[] {
  const text = original
    .replace(/[‐‑]/g, "-")
    .replace(/(\d) h (\d\d)(?!\d| ?m)/g, "$1h$2  ")
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[०-९]/g, (digit) => String((digit.charCodeAt(0) & 15) - 6))
    .replace(/٬/g, ",")
    .replace(/٫/g, ".")
    .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
  const dates = datesIn(text).map(
    (date): Dated => ({ ...date, kind: "date", text: text.slice(date.start, date.end) }),
  );
  // Blanked, so that no number is read out of a date.
  const rest = withoutDates(text, dates);
  const numbers: (Quantity | Literal)[] = [];
  for (const match of matchesIn(NUMBER, rest)) {
    const one = numberOf(match, rest);
    const before = numbers.at(-1);
    numbers.push(one);
    if (before?.kind !== "number" || one.kind !== "number" || before.text.length >= 20) continue;
    if (!GOES_ON.test(before.text) || !/^ ?$/.test(rest.slice(before.end, one.start))) continue;
    one.values = before.values.flatMap((value) => one.values.map((more) => value + more));
    Object.assign(one, { start: before.start, text: rest.slice(before.start, one.end) });
    numbers.splice(-2, 1);
  }
  // The first of a range has the power and the unit of the second: `1.2–1.3 billion euros`.
  for (const [i, one] of numbers.entries()) {
    const other = numbers[i + 1];
    if (one.kind !== "number" || other?.kind !== "number" || !TO.test(rest.slice(one.end, other.start)))
      continue;
    one.unit ??= other.unit;
    if (one.factors[0] === 1) one.values = [...one.values, ...multiplied(one.values, other.factors)];
  }
  return [...dates, ...numbers].sort((a, b) => a.start - b.start);
}

function numberOf(match: RegExpExecArray, text: string): Quantity | Literal {
  const { digits, money, power = "", unit = "", ...said } = match.groups ?? {};
  const start = match.index;
  const place = { text: match[0].trim(), start, end: start + match[0].length };
  const behind = text.slice(place.end, place.end + 12);
  const isHourOfDay = /^\s?Uhr\b/.test(behind);
  const isTime = isHourOfDay && /^\d\d?\.\d\d$/.test(digits ?? "");
  const plain = (digits ?? "").replace(isTime ? "." : "·", isTime ? ":" : ".");
  const all = plain.replace(/\D/g, "");
  const literal = (...values: string[]): Literal => ({ kind: "literal", ...place, values });
  // `U+0001` is not an amount, and only 15 digits of a floating-point number are exact.
  if (/^0\d{3,}$|^\d[\d-]*-|^97[89]\d{10}$/.test(plain) || all.length > 15) return literal(all);
  const half = /^\s?([ap])\.?m\b/i.exec(behind)?.[1]?.toLowerCase();
  const [inHours = "", minutes = "00"] = /^h(\d\d)(?!\d| ?m)/.exec(behind) ?? [];
  place.text += inHours;
  place.end += inHours.length;
  const [, hour, minute = minutes] =
    (isHourOfDay || half || inHours ? /^(\d\d?)(?::(\d\d))?$/ : /^(\d\d?):(\d\d)$/).exec(plain) ?? [];
  if (hour !== undefined) {
    const read = `${Number(hour)}:${minute}`;
    return half ? literal(read, `${(Number(hour) % 12) + (half === "p" ? 12 : 0)}:${minute}`) : literal(read);
  }
  if (plain.includes(":") || (/[.,]\d+[.,]\d+/.test(plain) && readingsOf(plain).length === 0))
    return literal(plain);
  const isNext = power === "" && (money !== undefined || /\d\s?\p{L}$/u.test(match[0]));
  const letter = isNext ? LETTERS.get(unit.toLowerCase()) : undefined;
  const times = [...(FACTORS.get(power.toLowerCase()) ?? [1]), ...(letter ? [letter] : [])];
  const [part = 0, whole = 1] = (said.fraction ?? "").normalize("NFKD").split("⁄").map(Number);
  const named = (name = "") => WORDS.get(name.toLowerCase().replace("-", " ")) ?? 0;
  const read =
    digits === undefined
      ? [named(said.word) * (said.hundred === undefined ? 1 : 100) + named(said.rest)]
      : readingsOf(plain).map((value) => value + part / whole);
  const before = text.slice(Math.max(0, start - BOUND_REACH), start);
  const inSilence = times.join() === "1" ? "exact" : "rounded";
  // A key may name the unit: `delay_ms: 250`.
  const keyed = /[_(](\p{L}+)\)?["'`]?\s?[:=]\s?["']?$/u.exec(before)?.[1] ?? "";
  // The 90s of a century.
  if (/^[2-9]0$/.test(plain) && (unit === "s" || said.nth === "er") && DECADE.test(before))
    read.push(1900 + Number(plain));
  // `2021/22` are two years.
  const year = /^\d\d$/.test(plain) ? /(?<!\d)(1\d|20)\d\d[-–/]$/.exec(before)?.[1] : undefined;
  if (year !== undefined) read.push(Number(year + plain));
  const signed = read.map((value) => (said.sign === undefined ? value : -value));
  const order = said.nth !== undefined || /^\. \p{L}/u.test(behind) ? ORDER : undefined;
  return {
    kind: "number",
    ...place,
    values: multiplied(signed, times),
    factors: times,
    unit: unitNamed(((letter && money) || unit || (money ?? keyed)).trim()) ?? order,
    // Asked for the numbers of a sentence alone, and not for those of the pages that it cites.
    get bound() {
      const first = before.replace(FIRST_OF_TWO, "");
      return BOUNDS.find(([, over, then]) => over.test(first) || then.test(behind))?.[0] ?? inSilence;
    },
    isWord: digits === undefined && power === "",
  };
}

/** What digits with separators may stand for: a comma or a point with three digits behind it groups, or begins a fraction. */
function readingsOf(digits: string): number[] {
  if (/^(?:\d+|.*e.*)$/i.test(digits)) return [Number(digits)];
  if (GROUPED.test(digits)) return [Number(digits.replace(/[^\d.,]/g, "").replace(",", "."))];
  if (/^\d*[.,]\d+$/.test(digits)) {
    const fraction = Number(digits.replace(",", "."));
    const whole = /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits) ? [Number(digits.replace(/[.,]/, ""))] : [];
    return whole.length > 0 && /,000$/.test(digits) ? whole : [...whole, fraction];
  }
  if (/^\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?$/.test(digits)) return [Number(digits.replaceAll(",", ""))];
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(digits))
    return [Number(digits.replaceAll(".", "").replace(",", "."))];
  return [];
}
