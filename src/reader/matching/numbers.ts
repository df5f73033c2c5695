import { NUMBER } from "./tokens.js";

const UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TEENS = "ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen,seventeen,eighteen,nineteen".split(",");
const TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const LARGE = { dozen: 12, hundred: 100, thousand: 1_000, million: 1_000_000, billion: 1_000_000_000 };
/** The English words for numbers, in lower case, and `twenty-five` too. */
const WORDS = new Map([
  ...[...UNITS, ...TEENS].map((word, n): [string, number] => [word, n]),
  ...TENS.flatMap((word, i) =>
    ["", ...UNITS.slice(1)].map((unit, n): [string, number] => [`${word} ${unit}`.trim(), 10 * i + 20 + n]),
  ),
  ...Object.entries(LARGE),
]);
/** "one" is a number before a unit, and else mostly a pronoun. */
const SPELLED = new RegExp(
  `\\b(?:(?:${TENS.join("|")})[- ](?:${UNITS.slice(1).join("|")})|one(?=[- ](?:second|minute|hour|day|week|month|year|byte|bit|percent|dozen|hundred|thousand|million|billion))|(?!one\\b)[a-z]+)\\b`,
  "gi",
);
const DIGITS = new RegExp(NUMBER, "gu");
const GROUPED = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

/** The numbers of a text, digits and English words alike, each in one form: `1,600` is `1600`, `2.0` is `2`. */
export function normalizedNumbers(text: string): Set<string> {
  const plain = text.normalize("NFKC");
  const spelled = [...plain.matchAll(SPELLED)].flatMap(
    ([word]) => WORDS.get(word.toLowerCase().replace("-", " ")) ?? [],
  );
  const digits = [...plain.matchAll(DIGITS)]
    .flatMap(([match]) => match.split(":"))
    .flatMap(parts)
    .map(canonical);
  return new Set([...digits, ...spelled.map(String)]);
}

/** Whether a number of a JSON value stands in a text, digit for digit: one that JSON has rounded does not. */
export function hasNumber(text: string, value: number): boolean {
  return [...normalizedNumbers(text)].some(
    (number) => number.replace(/^(-?\d+\.\d*?)0+$/, "$1") === String(value),
  );
}

/** A comma groups the digits of one number, or separates two. */
function parts(match: string): string[] {
  const plain = match.replace("−", "-");
  return GROUPED.test(plain) ? [plain.replaceAll(",", "")] : plain.split(",");
}

function canonical(number: string): string {
  return number
    .replace(/^(-?)\./, "$10.")
    .replace(/^(-?)0+(?=\d)/, "$1")
    .replace(/^(-?\d+)\.0+$/, "$1");
}
