import { isObject } from "../../core/json/exact-json.js";

/** The fixed words of a report. A number, list or place replaces each name in braces. */
const ENGLISH = {
  contents: "Contents",
  disagree: "Sources disagree",
  missing: "Not found",
  quotes: "Quotes",
  under: "Under: {places}",
  columns: "columns {names}",
  sources: "Sources",
  read: "read {date}",
  searched: "Documents searched: {number}.",
  unread: "Not read: {list}.",
  checked: "What is checked",
  nothing: "Nothing was found: no passage in the sources answers this.",
  stands:
    "Each quote was found in its source at that place, word for word. Each number in the answer stands in a quote that it cites, in the heading over it, or in the question.",
  noted: "The answer is made of what a model noted from each quote.",
  held: "The model held each sentence against its quotes, and what they do not state is left out.",
  unheld:
    "The model held the sentences against their quotes; the work ended before those marked [not checked].",
  left: "Left out: {list}.",
  noQuote: "quotes of the model that do not stand in their source ({number})",
  noGround: "sentences that no quote supports ({number})",
  noSteps: "whole lists of steps, since a step of each is not supported ({number})",
  foreign: "The answer is not in the language of the question, also when it was asked for once more.",
  cut: "The model may not have seen all passages: the endpoint seems to have cut off what it was sent.",
  spent: "The search ended early, at the limit of {flag}.",
  open: "The search ended when it found nothing new; some of the question may still be open.",
  usage: "Usage",
  used: "Calls of the model: {calls}. Tokens in: {input}, out: {output}.",
  cost: "Cost: {number} dollars.",
};

/** The fixed words as a model translated them to the language of the question. */
export type ReportWords = Partial<Record<keyof typeof ENGLISH, string>>;
const NAMES = Object.keys(ENGLISH) as (keyof typeof ENGLISH)[];

/** The English words as JSON for a prompt. */
export const ENGLISH_WORDS = JSON.stringify(ENGLISH);

const BRACES = /\{\w+\}|\[not checked\]/g;
/** The largest length of a translation, relative to the English words. */
const LONGER = 2.5;
/** Characters that a translation must not contain: numbers, links, HTML, line breaks. */
const FORBIDDEN = /[\p{N}\n\r<>|`#*]|\]\(|:\/\//u;

/** Reads the translations that are safe: plain text of similar length, with the same names in braces. */
export function readWords(reply: unknown): ReportWords {
  if (!isObject(reply)) return {};
  const valid = NAMES.filter((name) => {
    const [text, english] = [reply[name], ENGLISH[name]];
    if (typeof text !== "string" || text.trim() === "" || FORBIDDEN.test(text)) return false;
    const listNames = (text: string) => (text.match(BRACES) ?? []).sort().join();
    return text.length <= 20 + LONGER * english.length && listNames(text) === listNames(english);
  });
  return Object.fromEntries(valid.map((name) => [name, String(reply[name]).trim()]));
}

/** Creates a function that returns the fixed words of a report; English for those that `words` lacks. */
export function createPhraseBook(words: ReportWords = {}) {
  return (name: keyof typeof ENGLISH, values: Readonly<Record<string, string | number>> = {}): string =>
    (words[name] ?? ENGLISH[name]).replace(/\{(\w+)\}/g, (_, value: string) => String(values[value] ?? ""));
}
