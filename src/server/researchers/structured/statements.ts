import { MAX_LINE } from "../blocks/block.js";
import { itemName, readable } from "../extractive/sentences.js";
import { sentencesIn } from "../sentences-in.js";
import type { Passage } from "../sources/source.js";

/** A value that a source gives outright beside its name. */
export interface Statement {
  /** The name: the term of a definition, a heading, the name at the beginning of an item, the key of a line. */
  label: string;
  /** Whether it is said to be the default. */
  isDefault: boolean;
  /** The value; where it is said to be the default, what begins with the value. */
  text: string;
  /** The sentence or line that it stands in. */
  sentence: string;
}

/** "default: X", "the default is X", "defaults to X". */
const DEFAULT_BEFORE =
  /(?<!\bis the )\bdefaults?(?: (?:value|setting|size|limit|number|level|port|timeout))?(?: is| are| to| of)?(?: set to| being)?(?: typically| usually| currently| always| about)?(?=[\s:=*]{1,6}\S)[\s:=*]{1,6}/giu;
/** "X by default", "X (default)", "X is the default". */
const DEFAULT_AFTER =
  /([`'"“‘]?[^\s`'"”’()]{1,80}[`'"”’]?(?:(?<![.!?]) (?!and\b|or\b)\p{L}{1,20})?)(?:,? by default\b| \((?:the )?default\)| is the default\b)/giu;
/** `key: value` and `key = value`, also in an item of a list. */
const KEY_VALUE =
  /^\s{0,40}(?:[-*+•]\s{1,4})?[`*"']{0,3}(\p{L}[\p{L}\p{N} _.-]{0,60}[\p{L}\p{N}])[`*"']{0,3}\s{0,4}(?::|=)[*`]{0,3}(?=[\s"'\d])\s{0,4}(\S.{0,200})$/u;
/** A body of a definition that is nothing but its value, in characters. */
const SHORT = 60;

/** What a passage says outright. */
export function statementsIn(passage: Passage): Statement[] {
  if (passage.kind === "table") return [];
  const pairs = passage.lines.flatMap((line): Statement[] => {
    const [, label, text] = KEY_VALUE.exec(line) ?? [];
    if (label === undefined || text === undefined) return [];
    return [{ label, isDefault: false, text: text.replace(/[,;]?\s*$/, ""), sentence: line }];
  });
  if (passage.kind === "code") return pairs;
  const item = itemName(passage.lines[0]);
  const label = item?.name ?? passage.heading.split(" / ").at(-1) ?? "";
  const text = readable(passage.lines.join(" ").slice(0, MAX_LINE)).replace(/\*\*|__/g, "");
  const isWhole =
    text.length <= SHORT && passage.lines.length === 1 && !/[.!?:]$/.test(text) && !item?.isCode;
  const sentences = [...sentencesIn(text)];
  const byDefault = (value: string, at: number): Statement => {
    const sentence = sentences.findLast(({ index }) => index <= at)?.segment ?? "";
    return { label, isDefault: true, text: value, sentence };
  };
  return [
    ...pairs,
    ...(isWhole ? [{ label, isDefault: false, text, sentence: text }] : []),
    ...[...text.matchAll(DEFAULT_BEFORE)].map(({ 0: before, index }) => {
      const at = index + before.length;
      return byDefault(text.slice(at, at + 200), at);
    }),
    ...[...text.matchAll(DEFAULT_AFTER)].map(({ 1: value = "", index }) => byDefault(value, index)),
  ];
}
