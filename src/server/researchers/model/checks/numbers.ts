const UNITS = "zero,_,two,three,four,five,six,seven,eight,nine".split(",");
const TEENS = "ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen,seventeen,eighteen,nineteen".split(",");
const TENS = "_,_,twenty,thirty,forty,fifty,sixty,seventy,eighty,ninety".split(",");
const LARGE = { dozen: "12", hundred: "100", thousand: "1000", million: "1000000", billion: "1000000000" };

const WORDS = new Map<string, string>([
  ...UNITS.map((word, n): [string, string] => [word, `${n}`]),
  ...TEENS.map((word, n): [string, string] => [word, `${n + 10}`]),
  ...TENS.map((word, n): [string, string] => [word, `${n * 10}`]),
  ...Object.entries(LARGE),
  ["one", "1"],
]);

const DIGITS = /(?:(?<![\p{L}\p{N}_)\]])[-−])?(?:(?<![\p{L}\p{N}])\.)?\p{N}+(?:[.,]\p{N}+)*/gu;
const COMPOUND = new RegExp(`\\b(${TENS.slice(2).join("|")})[- ](one|${UNITS.slice(2).join("|")})\\b`, "gi");
/** "one" is a number before a unit, and else mostly a pronoun. */
const SPELLED =
  /\b(?!one\b)[a-z]+\b|\bone(?=[- ](?:second|minute|hour|day|week|month|year|byte|bit|percent|dozen|hundred|thousand|million|billion))/gi;
const GROUPED = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

/** The numbers of a text, digits and English words alike, each in one form: `1,600` is `1600`, `2.0` is `2`. */
export function numbersIn(text: string): Set<string> {
  const plain = text.normalize("NFKC");
  const found = new Set<string>();
  for (const [match] of plain.matchAll(DIGITS)) for (const part of parts(match)) found.add(canonical(part));
  const rest = plain.replace(COMPOUND, (_whole, tens: string, unit: string) => {
    found.add(`${Number(WORDS.get(tens.toLowerCase())) + Number(WORDS.get(unit.toLowerCase()))}`);
    return " ";
  });
  for (const [word] of rest.matchAll(SPELLED)) {
    const value = WORDS.get(word.toLowerCase());
    if (value !== undefined) found.add(value);
  }
  return found;
}

/** Whether a number of a JSON value stands in a text, digit for digit: one that JSON has rounded does not. */
export function hasNumber(text: string, value: number): boolean {
  return [...numbersIn(text)].some((number) => withoutTrailingZeros(number) === String(value));
}

function withoutTrailingZeros(number: string): string {
  return /^-?\d+\.\d+$/.test(number) ? number.replace(/\.?0+$/, "") : number;
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
