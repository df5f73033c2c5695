import { type ReportClaims, readMarkdownClaims } from "../checking/citations.js";
import type { Report } from "../checking/report-checker.js";
import { type ComparedSentence, type Relation, relateSentences } from "./relate-sentences.js";

/** A sentence of a report, or a field of a structured result with its path, and how the other report relates to it. */
export interface Compared {
  text: string;
  kind: Relation["kind"];
  /** The sentence of the other report that states another figure; null unless `kind` is "changed". */
  other: string | null;
}

/** The texts of a report by path. Each is compared with the text at the same path of the other report. */
type Parts = ReadonlyMap<string, readonly ComparedSentence[]>;

/** A report, prepared for comparisons. `links`: its addresses, if it is a Markdown text, whose path is "". */
export interface ComparedReport {
  isText: boolean;
  parts: Parts;
  links?: ReportClaims["links"];
}

/** A value with more words is a text, which another report may word differently. */
const MOST_WORDS = 4;

/** Compares two Markdown texts as a whole, or two structured results field by field. Both must be of the same kind. */
export function compareReports(
  { parts: first }: ComparedReport,
  { parts: second }: ComparedReport,
): [Compared[], Compared[]] {
  const paths = [...new Set([...first.keys(), ...second.keys()])];
  const relations = new Map(
    paths.map((path) => [
      path,
      relatePartsByPath(first.get(path) ?? [], second.get(path) ?? [], path !== ""),
    ]),
  );
  const listCompared = (own: Parts, other: Parts, side: 0 | 1) =>
    [...own].flatMap(([path, sentences]) => {
      const format = ({ text }: ComparedSentence) => (path ? `${path}: ${text}` : text);
      return sentences.map((sentence, i): Compared => {
        const relation = relations.get(path)?.[side][i] ?? SAME;
        const against = relation.kind === "changed" ? other.get(path)?.[relation.other] : undefined;
        return { text: format(sentence), kind: relation.kind, other: against ? format(against) : null };
      });
    });
  return [listCompared(first, second, 0), listCompared(second, first, 1)];
}

function relatePartsByPath(
  first: readonly ComparedSentence[],
  second: readonly ComparedSentence[],
  isField: boolean,
): [Relation[], Relation[]] {
  const [a, b] = relateSentences(first, second);
  if (!isField || Math.max(a.length, b.length) > 1) return [a, b];
  // A field keeps its subject even if its words change. A short one without a figure is a value.
  const [x, y] = [first, second].map(
    ([sentence]) => sentence?.text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  );
  const isValue = [x, y].every((words = []) => words.length <= MOST_WORDS);
  const kinds = [...a, ...b].map(({ kind }) => kind);
  const isOther = kinds.includes("none")
    ? isValue && x?.join() !== y?.join()
    : kinds.every((kind) => kind === "absent");
  if (isOther) {
    const relation: Relation = kinds.length > 1 ? { kind: "changed", other: 0 } : { kind: "absent" };
    return [a.map(() => relation), b.map(() => relation)];
  }
  return isValue && kinds.includes("none") ? [a.map(() => SAME), b.map(() => SAME)] : [a, b];
}

const SAME: Relation = { kind: "same" };

/** Prepares a report for any number of comparisons. */
export function prepareForComparison(report: Report): ComparedReport {
  const parts = new Map<string, readonly ComparedSentence[]>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "object" && value !== null)
      for (const [name, child] of listValueEntries(value)) visit(child, path ? `${path}.${name}` : name);
    else if (typeof value === "string")
      parts.set(path || "value", readMarkdownClaims(value, NOTHING_GIVEN).claims);
    else if (value !== null) parts.set(path || "value", [{ text: String(value), over: "" }]);
  };
  if (!("text" in report)) {
    visit(report.value, "");
    return { parts, isText: false };
  }
  const { claims, links } = readMarkdownClaims(report.text, report.given);
  return { parts: new Map([["", claims]]), isText: true, links };
}

const NOTHING_GIVEN = { citations: [], sources: [] };

/** Lists the members of an object, or the items of an array by values that distinguish them, so that their order does not matter. */
function listValueEntries(value: object): [string, unknown][] {
  if (!Array.isArray(value)) return Object.entries(value);
  const isText = (item: unknown) => typeof item === "string";
  const columns = Object.keys(isText(value[0]) ? {} : Object(value[0])).map((name) =>
    value.map((item) => Object(item)[name]),
  );
  const distinct = [...columns, value.every(isText) ? value : []].filter(
    (names) =>
      names.every((name) => isText(name) || typeof name === "number") && new Set(names).size === value.length,
  );
  // A text without digits is likelier to be the name of an item than a figure.
  const names = distinct.find((column) => column.every((name) => !/\d/.test(name))) ?? distinct[0] ?? [];
  return value.map((item, i) => [`[${names[i] ?? i}]`, item]);
}
