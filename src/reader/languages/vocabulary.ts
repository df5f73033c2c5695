import de from "./de.yaml";
import en from "./en.yaml";
import es from "./es.yaml";
import fr from "./fr.yaml";
import it from "./it.yaml";
import ja from "./ja.yaml";
import ko from "./ko.yaml";
import nl from "./nl.yaml";
import pt from "./pt.yaml";
import zh from "./zh.yaml";

/**
 * The word lists of each language, by ISO 639-1. They omit words that are the same in English. In texts of other languages,
 * only digits are read.
 */
const FILES: Readonly<Record<string, LanguageFile>> = { ...{ en, de, fr, es, it, pt, nl, ja, zh, ko } };
type LanguageFile = Readonly<Record<string, unknown>>;

/** Returns whether there are word lists for a language, so that names of months and powers in it can be read; true for undefined. */
export function hasWordLists(language: string | undefined): boolean {
  return language === undefined || Object.hasOwn(FILES, language);
}

/** The words of several languages. If two of them use a word differently, the earlier language wins. */
export class Vocabulary {
  constructor(private readonly files: readonly LanguageFile[]) {}

  /** Returns the words of a list in lower case. A word that follows its number begins with "~". */
  list(name: string): string[] {
    return this.files.flatMap((file) => expandWordList(file, file[name]));
  }

  /** Returns the words of an ordered list with their index, from 0. "/" separates words of one index, which "-" leaves without any. */
  listOrdered(name: string): [word: string, place: number][] {
    const groups = this.files.flatMap((file) => [...expandWordList(file, file[name]).entries()]);
    return groups
      .filter(([, words]) => words !== "-")
      .flatMap(([place, words]) => words.split("/").map((word): [string, number] => [word, place]));
  }

  /** Returns the words of a table, each with its key. */
  listEntries(name: string): [word: string, key: string][] {
    return this.files.flatMap((file) =>
      Object.entries(file[name] ?? {}).flatMap(([key, words]) =>
        expandWordList(file, words).map((word) => [word, key] as [string, string]),
      ),
    );
  }
}

/** Reads a list of words. "_" stands for a blank in a word, and "*" for each ending of the language. */
function expandWordList(file: LanguageFile, list: unknown): string[] {
  const endings = `${file.endings}`.split(" ").map((ending) => ending.replace("-", ""));
  return (typeof list === "string" ? (list.match(/\S+/g) ?? []) : []).flatMap((word) => {
    const [head = "", ...parts] = word.replaceAll("_", " ").split("*");
    return parts.reduce(
      (heads, part) => heads.flatMap((each) => endings.map((end) => each + end + part)),
      [head],
    );
  });
}

const vocabularies = new Map<string, Vocabulary>();

/**
 * Returns the vocabulary of `language`, `others` and English, whose words occur in texts of all languages; the vocabulary of
 * all languages if `language` is undefined.
 */
export function getVocabulary(language: string | undefined, ...others: (string | undefined)[]): Vocabulary {
  const all = [language, ...others, "en", ...(language === undefined ? Object.keys(FILES) : [])];
  const names = [...new Set(all)].flatMap((name) => (name !== undefined && hasWordLists(name) ? name : []));
  const key = names.join();
  const vocabulary = vocabularies.get(key) ?? new Vocabulary(names.map((name) => FILES[name] ?? {}));
  vocabularies.set(key, vocabulary);
  return vocabulary;
}

const SCRIPTS: readonly [language: string, letters: RegExp][] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["he", /\p{Script=Hebrew}/gu],
];
/** How many different frequent words of a language a text must contain at least. */
const LEAST = 2;
/** A text must have this many times as many common words of the detected language as of the second best one. */
const LEAD = 1.3;
/** How many characters of a text are examined. */
const SAMPLE = 20_000;

const frequent = Object.entries(FILES).map(([name, file]) => ({
  name,
  words: new Set(expandWordList(file, file.frequent)),
}));

/** Detects the language of a text, ISO 639-1; undefined if the evidence is weak, as in lists of names or code. */
export function detectLanguage(whole: string): string | undefined {
  const text = whole.slice(0, SAMPLE);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const script = SCRIPTS.find(([, pattern]) => (text.match(pattern)?.length ?? 0) * 4 > letters);
  if (script !== undefined) return script[0];
  const all = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = frequent.map(({ name, words }) => {
    const matches = all.filter((word) => words.has(word));
    return { name, count: matches.length, different: new Set(matches).size };
  });
  const [first, second] = counts.sort((a, b) => b.count - a.count);
  const isClear = first && first.different >= LEAST && first.count > LEAD * (second?.count ?? 0);
  return isClear ? first.name : undefined;
}
