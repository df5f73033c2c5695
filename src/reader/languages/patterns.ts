import type { Vocabulary } from "./vocabulary.js";

/** A part of a text with its place: offsets in UTF-16 units, `end` exclusive. */
export interface Token {
  text: string;
  start: number;
  end: number;
}

/** Matches a digit, or a lower-case letter of a script that separates words. In other scripts, digits may touch letters. */
export const IN_WORD =
  "[0-9a-z\\u00aa\\u00b2\\u00b3\\u00b5\\u00b9\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u10ff]";

/**
 * Converts to lower case without changing the length. The patterns match lower-case text only, because case-insensitive ones take
 * ten times as long to compile.
 */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length
    ? lower
    : text.replace(/\p{Lu}/gu, (letter) =>
        letter.toLowerCase().length > letter.length ? letter : letter.toLowerCase(),
      );
}

/** Returns the matches of a pattern with the flag `g`. `matchAll` copies the pattern, which takes longer than reading a sentence. */
export function listMatches(pattern: RegExp, text: string): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) matches.push(match);
  return matches;
}

/** Returns what `text`, the text that was matched or one of the same length, has at a match, trimmed, with its place. */
export function cutMatch({ 0: { length }, index }: RegExpExecArray, text: string): Token {
  return { text: text.slice(index, index + length).trim(), start: index, end: index + length };
}

/** Builds a pattern that matches any of the words, the longest first. Without words, the pattern never matches. */
export function buildAlternation(words: Iterable<string>): string {
  const escaped = [...new Set(words)]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "[\\s-]"));
  return escaped.length > 0 ? `(?:${escaped.join("|")})` : "(?!)";
}

/** Returns a function that compiles the patterns of a vocabulary with `make`, once for each vocabulary. */
export function cacheByVocabulary<T>(make: (vocabulary: Vocabulary) => T): (vocabulary: Vocabulary) => T {
  const cache = new WeakMap<Vocabulary, { patterns: T }>();
  return (vocabulary) => {
    const entry = cache.get(vocabulary) ?? { patterns: make(vocabulary) };
    cache.set(vocabulary, entry);
    return entry.patterns;
  };
}
