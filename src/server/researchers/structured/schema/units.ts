/** Units by the words and endings of names that stand for them. */
const UNITS: readonly [string, RegExp][] = [
  ["ms", /^(?:ms|msecs?|millis|milliseconds?)$/i],
  ["s", /^(?:s|secs?|seconds?)$/i],
  ["min", /^(?:min|mins|minutes?)$/i],
  ["h", /^(?:h|hrs?|hours?|hourly)$/i],
  ["d", /^(?:d|days?|daily)$/i],
  ["week", /^(?:weeks?|weekly)$/i],
  ["month", /^(?:months?|monthly)$/i],
  ["year", /^(?:years?|yearly)$/i],
  ["byte", /^(?:b|bytes?)$/i],
  ["kB", /^(?:kb|kib|kilobytes?|kibibytes?)$/i],
  ["MB", /^(?:mb|mib|megabytes?|mebibytes?)$/i],
  ["GB", /^(?:gb|gib|gigabytes?|gibibytes?)$/i],
  ["TB", /^(?:tb|tib|terabytes?)$/i],
  ["bit", /^bits?$/i],
  ["%", /^(?:%|percent|percentage)$/i],
];

/** The unit that a word stands for; undefined if the word is not a unit. */
export function unitOf(word: string): string | undefined {
  return UNITS.find(([, pattern]) => pattern.test(word))?.[0];
}

/** The units that `text` names in whole words of at least two letters. */
export function unitsIn(text: string): Set<string> {
  const found = (text.match(/[\p{L}%]+/gu) ?? []).flatMap((word) =>
    word.length > 1 || word === "%" ? (unitOf(word) ?? []) : [],
  );
  return new Set(found);
}

/** The unit right after a number, as in "128MB", "5 seconds" or "`5000` ms"; undefined if there is none. */
export function unitAfter(text: string): string | undefined {
  const word = /^[\s`'"*-]{0,3}(%|\p{L}+)/u.exec(text)?.[1];
  return word === undefined ? undefined : unitOf(word);
}
