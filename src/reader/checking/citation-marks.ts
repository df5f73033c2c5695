import { isAbbreviated } from "../parsing/split-sentences.js";

/** Replaces each character of links, code and Markdown marks, so that no other marks are found in them. */
export const OBJECT = "\ufffc";

/**
 * How certain it is that a match is a mark. `sure` and `link`: always. `counted`: always, but it cites an entry only if a list
 * has the numbers of all such marks. `number` and `glued`: if a list has the number. `alone`: if, in addition, no more certain
 * mark leads to a list. `habit`: if, in addition, the report often writes marks directly after text. `none`: a remnant of a
 * service; it is removed and cites nothing.
 */
export type Certainty = "sure" | "counted" | "link" | "number" | "glued" | "alone" | "habit" | "none";

/** A match of one of the forms in a text. */
export interface FoundMark {
  certainty: Certainty;
  from: number;
  to: number;
  labels: string[];
  urls: string[];
  /** A number after a bare address, which may be a mark: `https://a.example/b.24`. */
  tail?: string | undefined;
}

const NUMBERS = String.raw`(?<numbers>\d{1,3}(?:\s?[,;–—-]\s?\d{1,3}){0,50})`;
const ADDRESS_END = String.raw`[^\s<>"'|\\${OBJECT}]*[^\s<>"'|\\${OBJECT}.,;:!?)\]}*_…]`;
const FILE_TYPES =
  "md|markdown|txt|rst|html?|pdf|docx|csv|tsv|jsonl?|ya?ml|toml|ini|conf|cfg|env|log|xml|sql|[cm]?[jt]sx?|py|rb|go|rs|java|cs?|cpp|h|sh|php";

/**
 * The forms of marks: certainty, a text that every match contains ("·": none), and pattern. The first form that matches wins.
 * Groups: `numbers` (`to`: the end of a range; `zero`: counted from 0), `name`, `file` and `line`, `doi`, `arxiv`; `power`: a
 * raised number. A form begins with its first character, so that most places in a text are skipped without looking back.
 *
 * The order: escaped HTML tables, and remnants of Gemini and ChatGPT beside their marks; marks copied from ChatGPT, with and
 * without private-use characters, and those of Codex, which name files; [cite: 1, 2], [citation:1] and [web:1] of Gemini,
 * DeepSeek and Perplexity; numbers and names in brackets; DOI, arXiv, `file:line`; raised numbers; Gemini's numbers as
 * exported by Google Docs: after a sentence, before its full stop, after a blank, at the end of a cell.
 */
const FORMS = String.raw`
none     <        </?(?:table|t[rdh]|thead|tbody|br|su[bp]|p|div|span|li|[uo]l)\b[^<>]{0,200}>
none     cite_    \[cite_(?:start|end)\]
none     attribut \(\{"attribution":\{[^{}]{0,200}\}\}\)
counted  oaicite  :{1,2}contentReference\[oaicite:(?<zero>)(?<numbers>\d{1,4})\](?:\{index=\d{1,4}\})?
sure     【F:      【F:(?<file>[^†【】\s]{1,300})†L(?<line>\d+)[^【】]{0,20}】
counted  ·        [【[](?<numbers>\d{1,20}(?=[†:】]))?[^[\]【】†]{0,200}(?:†[^[\]【】]{0,200}[】\]]|(?<=【\d{1,20})】)
counted  ·        \ue200(?:file)?cite[^\ue201]{0,500}\ue201
none     ·        \ue200[^\ue201]{0,500}\ue201
counted  turn     (?:file)?cite(?:turn\d+[a-z]+\d+)+|(?<!\w)(?:turn\d+(?:search|view|news|fetch|file)\d+)+
counted  [        \[[a-z_]{3,15}:\s?${NUMBERS}\]
sure     ·        [[［](?:(?:cite|refs?|sources?|quellen?)\.?\s)?${NUMBERS}(?:[,:]\s(?:pp?|S)\.[^[\]]{1,20})?[\]］](?:\s?[–—-]\s?\[(?<to>\d{1,3})\])?
number   [        \[(?<name>[^[\]\s]{1,40})\]
sure     10.      (?:\bdoi:\s?|(?<![\w/.]))(?<doi>10\.\d{4,9}/${ADDRESS_END})
sure     rXiv     \barxiv:\s?(?<arxiv>\d{4}\.\d{4,5})(?:v\d+)?
sure     :        (?<![\w/.:@-])(?<file>(?:[\w.@+-]+/)*[\w@+-]*(?:\.[\w@+-]+)*\.(?:${FILE_TYPES})):(?<line>\d{1,7})(?:-\d+)?(?![\w:])
number   ^        (?<power>)\^${NUMBERS}\^
number   ·        (?<power>)(?<numbers>[⁰¹²³⁴-⁹]+(?:\s?[,˒]\s?[⁰¹²³⁴-⁹]+){0,20})
glued    ·        (?=\d)(?<=[.!?…。]["”“’»)\]]{0,2})${NUMBERS}(?=$|[\s"”»)\]${OBJECT}]|\p{Lu}\p{Ll})
habit    ·        (?=\d)(?<=(?<![\p{L}\d])\p{Ll}{4,40}|[)\]"”’»%${OBJECT}]|\p{L}[.!?]?“)${NUMBERS}(?=[.,;:!?)\]”"]{1,3}(?:\s|$)|\s*$)
habit    ·        (?=\d)(?<=(?:(?<!\p{L})\p{Ll}{4,40}|[)\]"”“’»])\s)${NUMBERS}(?=[,;:)](?:\s|$))
alone    ·        (?=[(（])(?<=[\p{L}\p{N}"”»%]\s?|[.!?。])[(（]${NUMBERS}[)）](?=[.,;:!?。，；]|\s*$|\s+\p{Lu})
alone    ·        (?=\d)(?<=\p{L}.{0,200}\s|[\d%]\s)(?!\d{3})${NUMBERS}\s*$`
  .trim()
  .split("\n")
  .map((form) => {
    const [, certainty, sign = "", pattern = ""] = /^(\S+) +(\S+) +(.+)$/.exec(form) ?? [];
    // With the flag `i`, \p{Ll} and \p{Lu} would match any letter.
    const flags = /\\p\{L[ul]/.test(pattern) ? "gu" : "giu";
    return {
      certainty: certainty as Certainty,
      sign: sign === "·" ? "" : sign,
      pattern: new RegExp(pattern, flags),
    };
  });

const YEAR = /(?<![\p{L}\d.,])(?:1[5-9]|20)\d\d$/u;
/** Matches a unit of length or time, after which a raised 2 or 3 is a power. */
const UNIT = /(?<!\p{L})(?:[kcdmµn]?m|ft|in|yd|mi|s)$/u;
/** Matches an abbreviation after whose full stop a number follows. */
const NUMBERED = /(?<!\p{L})(?:nos?|nr|figs?|vol|secs?|arts?|ch|pp?|eqs?|tab|abb|abs|ziff|kap|v)$/iu;

/** Returns whether a raised number is a power of the text before it, as in 10⁶, m², x². */
export function isRaisedPower(before: string): boolean {
  const isDigit = /\d$/.test(before) && !YEAR.test(before);
  return isDigit || UNIT.test(before) || /(?<!\p{L})[\p{Lu}\p{Ll}]$|[⁻^-]$/u.test(before);
}

/** Returns whether a number after a full stop is a mark. After a digit and a full stop, the number is a decimal, unless the digit ends a year or a decimal. */
function isBehindSentence(before: string, after: string): boolean {
  const sentence = before.replace(/["”“’»)\]]*$/, "").slice(0, -1);
  const isFigure = /\d\.$/.test(before) && !YEAR.test(sentence) && !/\d[.,]\d{1,2}$/.test(sentence);
  // A lower-case word may follow, because a sentence may begin with such a name.
  const isWord = /\p{Ll}{3}[)"”“’»\]]*$/u.test(sentence) && !isAbbreviated(`${sentence}.`);
  return !isFigure && !NUMBERED.test(sentence) && (isWord || !/^\s+\p{Ll}/u.test(after));
}

/** Finds the marks in a text, in order and without overlaps. */
export function findCitationMarks(text: string, isCell: boolean): FoundMark[] {
  const all: FoundMark[] = [];
  if (!/[\d[<{【\ue200⁰¹²³⁴-⁹]/.test(text)) return all;
  for (const { certainty, sign, pattern } of isCell ? FORMS : FORMS.slice(0, -1)) {
    if (!text.includes(sign)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const mark = parseMark(match, certainty, text);
      if (mark) all.push(mark);
    }
  }
  let end = 0;
  return all
    .sort((a, b) => a.from - b.from)
    .filter(({ from, to }) => {
      const isFree = from >= end;
      if (isFree) end = to;
      return isFree;
    });
}

/** Reads a match as a citation mark; undefined if it is a power, an interval or a part of a word. */
function parseMark(match: RegExpExecArray, certainty: Certainty, text: string): FoundMark | undefined {
  const { numbers = "", to, zero, power, name, file, line, doi, arxiv } = match.groups ?? {};
  const [from, end] = [match.index, match.index + match[0].length];
  // A raised number may follow another one.
  const before = text.slice(Math.max(0, from - 40), from).replace(/(?:\^\d{1,3}\^)+$/, "");
  if (power !== undefined && isRaisedPower(before)) return undefined;
  if (certainty === "glued" && !isBehindSentence(before, text.slice(end, end + 20))) return undefined;
  const labels = name
    ? [name.toLowerCase()]
    : expandNumberRanges(to ? `${numbers}-${to}` : numbers, zero === undefined ? 0 : 1);
  const url = file
    ? `${file}:${line}`
    : doi
      ? `https://doi.org/${doi}`
      : arxiv && `https://arxiv.org/abs/${arxiv}`;
  // [0, 1] is an interval and not a mark.
  return labels.includes("0") ? undefined : { certainty, from, to: end, labels, urls: url ? [url] : [] };
}

/** Expands `1, 3–5` to 1, 3, 4 and 5, with `more` added to each. A range has at most 51 numbers. */
export function expandNumberRanges(list: string, more = 0): string[] {
  const plain = list.replace(/[⁰¹²³⁴-⁹]/g, (digit) => `${"⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit)}`);
  return plain.split(/[,;˒]/).flatMap((part) => {
    const [from = NaN, to = from] = part.split(/[–—-]/).map((number) => Number.parseInt(number, 10));
    const count = Number.isNaN(from) ? 0 : Math.min(Math.max(0, to - from), 50) + 1;
    return Array.from({ length: count }, (_, i) => String(from + i + more));
  });
}
