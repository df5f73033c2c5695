import { numbersIn } from "./numbers.js";
import { standsIn, tokensOf } from "./tokens.js";

/** A sentence of an answer, with the numbers (from 1) of the facts that it rests on. */
export interface Cited {
  text: string;
  facts: readonly number[];
}

/** A longer text is no sentence. In characters. */
const LONGEST = 1_200;
const MARKS = /\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]/g;
const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/[^\s<>"'`)\]]+|\bwww\.[^\s<>"'`)\]]+/gi;
/** Targets of links and images, and HTML: what a page would load or follow. */
const TARGET = /\]\(\s*<?([^)>\s]+)/g;
const TAG = /<\/?[a-z][^<>]*>/gi;
const SPEECH = /"([^"]+)"|“([^”]+)”|«([^»]+)»/g;

/**
 * A sentence as it may be shown, on one line and without marks of citation; undefined unless it cites a quote, and
 * every number, every address, every HTML tag and everything between quotation marks in it stands in a quote that it
 * cites or in the question. `quotes` are those of the facts, in their order.
 */
export function checkSentence(
  { text, facts }: Cited,
  quotes: readonly string[],
  question: string,
): Cited | undefined {
  const inline = [...text.matchAll(MARKS)].flatMap(([, list = ""]) => list.split(/[,;]/).map(Number));
  const cites = [...new Set([...facts, ...inline])].filter((id) => quotes[id - 1] !== undefined);
  const plain = text
    .replace(MARKS, "")
    .replace(/\s+/g, " ")
    .replace(/^[#>|\s]+|^[-*+]\s+/, "")
    .trim();
  if (cites.length === 0 || !/\p{L}/u.test(plain) || plain.length > LONGEST) return undefined;
  const grounds = [question, ...cites.map((id) => quotes[id - 1] ?? "")];
  return isGrounded(plain, grounds) ? { text: plain, facts: cites } : undefined;
}

function isGrounded(text: string, grounds: readonly string[]): boolean {
  const numbers = new Set(grounds.flatMap((ground) => [...numbersIn(ground)]));
  if (![...numbersIn(text)].every((number) => numbers.has(number))) return false;
  const addresses = [
    ...[...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?]+$/, "")),
    ...[...text.matchAll(TARGET)].map(([, target = ""]) => target),
    ...[...text.matchAll(TAG)].map(([tag]) => tag),
  ];
  if (!addresses.every((address) => grounds.some((ground) => ground.includes(address)))) return false;
  const spoken = [...text.matchAll(SPEECH)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  return spoken
    .filter((words) => tokensOf(words).length > 0)
    .every((words) => grounds.some((ground) => standsIn(ground, words)));
}
