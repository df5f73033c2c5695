import { listMatches } from "../languages/patterns.js";
import type { Vocabulary } from "../languages/vocabulary.js";
import { blankOutDates, findMonths } from "./dates.js";
import { findQuotations, isLongQuotation } from "./quotations.js";

/** Words that do not indicate a subject: the usual stop words of English, and words that open a question. */
const STOP = new Set(
  (
    "a about above after again against all also am an and any are as at be because been before being " +
    "below between both but by can could did do does doing down during each few for from further had has " +
    "have having he her here hers herself him himself his how i if in into is it its itself many may me " +
    "might more most much must my myself no nor not of off on once one only or other ought our ours " +
    "ourselves out over own per please same shall she should so some such than that the their theirs " +
    "them themselves then there these they this those through to too under until up us very was we were " +
    "what when where which while who whom whose why will with would you your yours yourself yourselves " +
    "happen happens tell explain describe show give"
  ).split(" "),
);

/** The longest word in characters. Longer runs of letters and digits are data: hashes, keys, encoded bytes. */
const LONGEST = 48;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const RUN = /[\p{L}\p{N}_]+/gu;
/** Matches hyphens within a word: the soft hyphen, and the hyphen that typesetting adds at a line end. */
const SPLIT = /\u00ad(?:\n\s*)?|\u2010\n\s*/g;
const ASCII_RUN = /\w+/g;

/** The terms of words that were split before, since a folder repeats most of its words. */
const cachedTerms = new Map<string, readonly string[]>();
const MOST_CACHED = 20_000;

/** Splits `text` into the stems of its meaningful words, in order and with repetition. */
export function splitIntoStems(text: string): string[] {
  // Most text is ASCII, for which the simpler expression takes a third of the time.
  const runs = (/[^\x00-\x7f]/.test(text) ? text.replace(SPLIT, "").match(RUN) : text.match(ASCII_RUN)) ?? [];
  return runs.flatMap(splitTerms);
}

/**
 * Returns the keys of a text's content words, each once. A key is the beginning of a word, so that "generates" and
 * "generation" are equal, even in languages without a stemmer. Omits numbers.
 */
export function listContentKeys(text: string, isFrequent: (word: string) => boolean = () => false): string[] {
  const letters = splitIntoStems(text).filter((word) => /\p{L}/u.test(word) && !isFrequent(word));
  return [...new Set(letters.map((word) => word.slice(0, KEY)))];
}

/** Returns the keys by which a text is found: those of its words, of words with a short ending, and of the parts of compounds. */
export function listSearchKeys(text: string, hasCompounds: boolean): Set<string> {
  const keys = new Set<string>();
  for (const word of splitIntoStems(text)) {
    keys.add(word.slice(0, KEY));
    if (word.length > KEY - 1 && word.length < KEY + 2) keys.add(word.slice(0, KEY - 1));
    if (hasCompounds)
      for (let at = LEAST_PART; at + KEY <= word.length; at++) keys.add(word.slice(at, at + KEY));
  }
  return keys;
}
/** The length of a key, in characters. */
const KEY = 6;
/** The least length of the first part of a compound, in characters. */
const LEAST_PART = 3;

/**
 * Finds the names in a text: words with a capital letter (adjacent ones are one name) and names of fields (`idle_timeout`), but
 * no months and no words of quoted sentences. German capitalizes all nouns, so there only words in capitals and terms between
 * quotation marks are names.
 */
export function findNames(text: string, language: string | undefined, vocabulary: Vocabulary): string[] {
  const quotations = findQuotations(text);
  const bare = blankOutDates(text, quotations.filter(isLongQuotation));
  const names = listMatches(language === "de" ? CAPITALS : NAME, bare).map(([name]) =>
    name.replace(/\p{L}+/gu, (word) => (findMonths(word, vocabulary).length > 0 ? "" : word)),
  );
  const terms = quotations.filter((quotation) => language === "de" && !isLongQuotation(quotation));
  return [...names.filter(Boolean), ...terms.map((term) => term.text)];
}
const FIELD = "(?<![\\p{L}\\p{N}_])[\\p{L}\\p{N}]+(?:_[\\p{L}\\p{N}]+)+";
const CAPITALS = new RegExp(`${FIELD}|(?<![\\p{L}\\p{N}])\\p{Lu}{2}[\\p{L}\\p{M}\\p{N}]*`, "gu");
const WORD = "(?<![\\p{L}\\p{N}])\\p{Lu}[\\p{L}\\p{M}\\p{N}]*";
const NAME = new RegExp(`${FIELD}|${WORD}(?:[ -]${WORD})*`, "gu");

/** Returns the terms of one run of letters and digits. */
function splitTerms(run: string): readonly string[] {
  const cached = cachedTerms.get(run);
  if (cached !== undefined) return cached;
  if (cachedTerms.size >= MOST_CACHED) cachedTerms.clear();
  const terms = splitIdentifier(run);
  cachedTerms.set(run, terms);
  return terms;
}

/** Splits identifiers in camelCase and snake_case. The whole identifier is a term as well. */
function splitIdentifier(run: string): string[] {
  if (run.length > LONGEST) return [];
  const parts = run
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .split("_")
    .filter(Boolean);
  const terms = parts
    .flatMap((part) => (HAN.test(part) ? listCharacterPairs(part) : [part]))
    .filter((part) => !STOP.has(part))
    .map(stemWord);
  return parts.length > 1 ? [parts.join("_"), ...terms] : terms;
}

/** Returns each pair of adjacent characters as a word, for scripts that do not separate words. */
function listCharacterPairs(word: string): string[] {
  const marks = [...word];
  return marks.length < 2 ? [word] : marks.slice(1).map((mark, i) => `${marks[i]}${mark}`);
}

/** Reduces a word to its stem: equal for "limit", "limits" and "limited", and for "create", "creates" and "creating". */
function stemWord(word: string): string {
  if (word.length < 4 || /\P{ASCII}|\d/u.test(word)) return word;
  let short = word
    .replace(/ies$/, "y")
    .replace(/(?<=[^suiay])s$|(?<=ay)s$/, "")
    .replace(/(?<=sse|xe|che|she)s$/, "");
  const cut = short.replace(/(?:ing|ed|ly|er)$/, "");
  if (cut.length >= 3 && /[aeiouy]/.test(cut)) short = cut.replace(/([^aeiouls])\1$/, "$1");
  return short.length > 3 ? short.replace(/e$/, "") : short;
}
