import type { Report } from "../checking/check.js";
import { type ReportClaims, readClaims } from "../checking/citations.js";
import { type ComparedSentence, type Relation, relate } from "./compare.js";

/** A sentence of a report, or a named field of a structured result, with its relation to the other report. */
export interface Compared {
  text: string;
  relation: Relation;
}

/** A text of a report; it is compared with the text at the same path of the other report. */
interface Part {
  sentences: readonly ComparedSentence[];
  /** The index in the report of its first sentence. */
  from: number;
}

/** A report as it is compared: its texts by their paths, and the addresses in it if it is a Markdown text. */
export interface ComparedReport {
  isText: boolean;
  parts: ReadonlyMap<string, Part>;
  links?: ReportClaims["links"];
}

/** A value with more words is a text; another report may word it differently. */
const MOST_WORDS = 4;

/** Compares two Markdown texts as wholes, or two structured results field by field. Both must be of one kind. */
export function compareReports(
  { parts: a }: ComparedReport,
  { parts: b }: ComparedReport,
): [Compared[], Compared[]] {
  const [ofA, ofB] = [listCompared(a), listCompared(b)];
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [partA, partB] = [a.get(path) ?? NO_PART, b.get(path) ?? NO_PART];
    const [ofOne, ofOther] = relateParts(partA.sentences, partB.sentences, path !== "");
    setRelations(ofA, partA.from, ofOne, partB.from);
    setRelations(ofB, partB.from, ofOther, partA.from);
  }
  return [ofA, ofB];
}

const NO_PART: Part = { sentences: [], from: 0 };

function listCompared(parts: ReadonlyMap<string, Part>): Compared[] {
  return [...parts].flatMap(([path, { sentences }]) =>
    sentences.map(({ text }) => ({ text: path ? `${path}: ${text}` : text, relation: { kind: "none" } })),
  );
}

function setRelations(
  all: Compared[],
  from: number,
  relations: readonly Relation[],
  fromOther: number,
): void {
  for (const [i, relation] of relations.entries()) {
    const compared = all[from + i] as Compared;
    compared.relation =
      relation.kind === "changed" ? { kind: "changed", other: fromOther + relation.other } : relation;
  }
}

function relateParts(
  first: readonly ComparedSentence[],
  second: readonly ComparedSentence[],
  isField: boolean,
): [Relation[], Relation[]] {
  const [a, b] = relate(first, second);
  if (!isField || Math.max(a.length, b.length) > 1) return [a, b];
  // A field keeps its subject if its words change; without a figure, a short one is a value.
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

/** Reads a report once for any number of comparisons. The path of a Markdown text is "". */
export function readForComparison(report: Report): ComparedReport {
  const parts = new Map<string, Part>();
  let from = 0;
  const add = (path: string, sentences: readonly ComparedSentence[]) => {
    parts.set(path, { sentences, from });
    from += sentences.length;
  };
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "object" && value !== null)
      for (const [name, child] of listEntries(value)) visit(child, path ? `${path}.${name}` : name);
    else if (typeof value === "string") add(path || "value", readClaims(value, NOTHING_GIVEN).claims);
    else if (value !== null) add(path || "value", [{ text: String(value), over: "" }]);
  };
  if (!("text" in report)) {
    visit(report.value, "");
    return { parts, isText: false };
  }
  const { claims, links } = readClaims(report.text, report.given);
  add("", claims);
  return { parts, isText: true, links };
}

const NOTHING_GIVEN = { citations: [], sources: [] };

/** Lists the members of an object, or the items of an array by distinguishing names so that their order does not matter. */
function listEntries(value: object): [string, unknown][] {
  if (!Array.isArray(value)) return Object.entries(value);
  const namedItems = value.map((item, i): [string, unknown] => [`[${findName(item) ?? i}]`, item]);
  return new Set(namedItems.map(([name]) => name)).size === value.length ? namedItems : Object.entries(value);
}

function findName(item: unknown): string | undefined {
  const name = typeof item === "object" && item !== null ? Object.values(item).find(isText) : item;
  return isText(name) ? name : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
