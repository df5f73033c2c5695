import type { Certainty } from "./citation-marks.js";
import type { CitationMark, ReportLine } from "./report-line.js";
import { LIST_NUMBER, type ReportUnit, type WorkEntry } from "./report-units.js";

const SURE: readonly Certainty[] = ["sure", "counted", "link"];

/** The most addresses of an entry, because each mark that refers to it cites all of them. */
const MOST_ADDRESSES = 50;

/** The lists of works in a report, which are recognized by their form, and the targets of the report's marks. */
export class WorksLists {
  /** The units that belong to a list of works and are not claims. */
  readonly units: ReadonlySet<ReportUnit>;
  /** The addresses of entries by number or name. A later list takes precedence. */
  readonly #listed = new Map<string, readonly string[]>();
  /** Whether the report has a list with the numbers of all `counted` marks. */
  readonly #isCounted: boolean;
  /** Whether certain marks lead to a list, and whether the report often writes numbers directly after text. */
  readonly #hasSure: boolean;
  readonly #hasHabit: boolean;

  /** `sources`: the addresses in a provider's list, numbered from 1. */
  constructor(units: readonly ReportUnit[], sources: readonly string[]) {
    const lists = new Map<WorkEntry["list"], ReportUnit[]>();
    for (const unit of units) {
      const entries = unit.entry && lists.get(unit.entry.list);
      if (entries) entries.push(unit);
      else if (unit.entry) lists.set(unit.entry.list, [unit]);
    }
    const allMarks = units.flatMap(listMarks);
    const used = [countMarks(allMarks, SURE), countMarks(allMarks, ["number", "glued"])] as const;
    const fromLast = [...lists.values()].reverse();
    const labelsOfWorks = new Set<string>();
    const hasWorks = (members: readonly ReportUnit[]) => {
      const labels = members.flatMap(({ entry }) => entry?.labels ?? []);
      // Going backwards, skip an earlier list with the same numbers, such as findings, because the list of works
      // comes later.
      const isFree = !labels.some((label) => labelsOfWorks.has(label));
      const areWorks = isWorkList(members, used, isFree);
      for (const label of areWorks ? labels : []) labelsOfWorks.add(label);
      return areWorks;
    };
    const numbered = fromLast.filter(hasWorks).reverse().flat();
    const last = listUnnumberedWorks(units, new Set(numbered));
    this.units = new Set([...numbered, ...last]);
    const list = (label: string, urls: readonly string[]) =>
      this.#listed.set(label.toLowerCase(), urls.slice(0, MOST_ADDRESSES));
    for (const [i, url] of sources.entries()) if (url) list(`${i + 1}`, [url]);
    for (const [i, { lines }] of last.entries())
      list(
        `${i + 1}`,
        lines.flatMap(({ urls }) => urls),
      );
    const isLabelled = ({ entry }: ReportUnit) => entry?.list.of === "lines" || entry?.list.of === "notes";
    // Entries that begin with a mark take precedence over a plain numbered list, for example one appended to the report.
    for (const unit of [...numbered.filter((unit) => !isLabelled(unit)), ...numbered.filter(isLabelled)])
      for (const label of unit.entry?.labels ?? []) list(label, unit.entry?.urls ?? []);
    const marks =
      this.units.size === 0 ? allMarks : units.filter((unit) => !this.units.has(unit)).flatMap(listMarks);
    const listLeading = (kinds: readonly Certainty[]) =>
      marks.filter((mark) => kinds.includes(mark.certainty) && this.#isLeading(mark));
    this.#isCounted =
      listLeading(["counted"]).length === marks.filter((unit) => unit.certainty === "counted").length;
    this.#hasSure = listLeading(SURE).length > 0;
    const glued = new Set(listLeading(["glued", "habit"]).flatMap(({ labels }) => labels)).size;
    this.#hasHabit = glued >= 3 || (glued > 0 && 2 * glued >= this.#listed.size);
  }

  /** All addresses in the lists of works. */
  get addresses(): string[] {
    return [...this.units].flatMap(({ entry, lines }) => entry?.urls ?? lines.flatMap(({ urls }) => urls));
  }

  #isLeading({ labels }: Pick<CitationMark, "labels">): boolean {
    return labels.length > 0 && labels.every((label) => this.#listed.has(label));
  }

  /** Returns whether a candidate is a mark, judged by the whole report. */
  isMark({ certainty, labels }: Pick<CitationMark, "certainty" | "labels">): boolean {
    if (SURE.includes(certainty) || certainty === "none") return true;
    if (this.#hasSure && (certainty === "alone" || certainty === "habit")) return false;
    return (certainty !== "habit" || this.#hasHabit) && this.#isLeading({ labels });
  }

  /** Returns the addresses that a mark cites. */
  listUrls({ certainty, labels, urls, tail = "" }: CitationMark): readonly string[] {
    // A number directly after a bare address may be another mark.
    if (tail !== "" && this.isMark({ certainty: "glued", labels: [tail.replace(".", "")] }))
      return urls.map((url) => url.slice(0, -tail.length));
    const counts = certainty !== "link" && (certainty !== "counted" || this.#isCounted);
    return counts ? [...urls, ...labels.flatMap((label) => this.#listed.get(label) ?? [])] : urls;
  }
}

/** Lists the marks of a unit. Most units have one line, whose marks need not be copied. */
const listMarks = ({ lines }: ReportUnit): readonly CitationMark[] =>
  lines.length === 1 ? (lines[0]?.marks ?? []) : lines.flatMap(({ marks }) => marks);

/** Counts the marks of these certainties for each number. */
function countMarks(
  marks: readonly CitationMark[],
  kinds: readonly Certainty[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { certainty, labels } of marks)
    for (const label of kinds.includes(certainty) ? labels : [])
      counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
}

/**
 * Returns whether a list is a bibliography: whether its entries are cited works. `used`: for each number, how many certain and
 * how many uncertain marks refer to it. `areNumbersFree`: whether no later list of works has the same numbers; only then may the
 * marks refer to this list.
 */
function isWorkList(
  members: readonly ReportUnit[],
  used: readonly [ReadonlyMap<string, number>, ReadonlyMap<string, number>],
  areNumbersFree: boolean,
): boolean {
  const of = members[0]?.entry?.list.of;
  const labels = members.flatMap(({ entry }) => entry?.labels ?? []);
  const share = (is: (unit: ReportUnit) => boolean) => members.filter(is).length / members.length;
  if (of === "notes") return true;
  if (labels.length < members.length / 2 || share(({ entry }) => (entry?.urls.length ?? 0) > 0) < 0.5)
    return false;
  if (of === "lines" && labels.every((label) => /^\d+$/.test(label))) return true;
  if (share((unit) => classifyWorkUnit(unit) === "title") >= 0.8) return true;
  const isUsed = (nth: 0 | 1, kinds: readonly Certainty[]) => {
    const counts = countMarks(members.flatMap(listMarks), kinds);
    return labels.some((label) => (used[nth].get(label) ?? 0) > (counts.get(label) ?? 0));
  };
  const isWeaklyUsed = () =>
    share((unit) => classifyWorkUnit(unit) !== undefined) >= 0.8 && isUsed(1, ["number", "glued"]);
  return areNumbersFree && of !== "rows" && (isUsed(0, SURE) || isWeaklyUsed());
}

/** Finds a list without numbers at the end of a report, in which each entry is a title with its address. */
function listUnnumberedWorks(units: readonly ReportUnit[], numbered: ReadonlySet<ReportUnit>): ReportUnit[] {
  const isApart = (unit: ReportUnit) => unit.kind === "gap" || unit.kind === "note" || numbered.has(unit);
  const last = units.findLastIndex(
    (unit) => !isApart(unit) && (unit.kind === "row" || classifyWorkUnit(unit) !== "title"),
  );
  const behind = units.slice(last + 1);
  // Lines with addresses directly below a paragraph belong to it, so the list begins at a heading or a list item.
  const first = behind.findIndex(({ kind }) => kind === "gap" || kind === "item");
  const works = first < 0 ? [] : behind.slice(first).filter((unit) => !isApart(unit));
  return works.length > 1 || works[0]?.kind === "item" ? works : [];
}

const YEAR = String.raw`(?:1[5-9]|20)\d\d`;
/** Matches a year or a day in any language: June 5, 2024; 5. Juni 2024; 5/6/2024; 2024年6月5日. NAME matches a name with a number, as in titles. */
const DATE = new RegExp(
  String.raw`(?<![\p{L}\d.,])(?:(?:\d{1,2}[월月]?\s)?\d{1,2},\s${YEAR}|\d{1,2}\.?\s(?:de\s|of\s)?\p{L}{3,12}\.?,?\s(?:de\s)?${YEAR}|\d{1,2}[-/.]\d{1,2}[-/.]${YEAR}|${YEAR}(?:\s?[-/.年년月월]\s?\d{1,2}){0,2})(?![\d,]*\d)`,
  "gu",
);
const NAME = /[\p{Lu}\p{Ll}]+[-‑]?\d+(?:\.\d+)*|\d+[\p{Lu}\p{Ll}]+/gu;

/** Returns whether nothing follows the address of a work, except a link back to the mark or the day of access. */
function isEndOfEntry(after: string): boolean {
  const rest = after.replace(DATE, "");
  return /^[\s)\]>.,;]*(?:↩.*)?$/u.test(after) || (rest !== after && /^[^\p{Nd}!?]{0,40}$/u.test(rest));
}

/** Classifies a unit whose only address is at an end. `title`: it has no figure that could be checked. Undefined for other units. */
function classifyWorkUnit({ lines, kind, entry }: ReportUnit): "title" | "address" | undefined {
  const parts = lines.flatMap((line) =>
    line.marks.flatMap((mark) => (mark.urls.length > 0 ? { line, mark } : [])),
  );
  const pages = new Set(parts.map(({ mark }) => mark.urls[0]?.replace(/#.*/, "")));
  const [first, last] = [parts[0], parts.at(-1)];
  if (pages.size !== 1 || !first || !last) return undefined;
  const after = last.line.text.slice(last.mark.to);
  const isBare = isAddress(last.line.text.slice(last.mark.from, last.mark.to));
  const begins =
    !/\p{L}/u.test(cutTextBeside(first.line, first.mark.from)) && /^\s*(?:$|[—–\-:|,.(])/.test(after);
  const opening = isBare
    ? kind === "item" || entry
      ? /$/
      : /(?:^|[—–\-:|,•>.”"’)])\s*$/
    : /[—–\-:|,•>]\s*$/;
  const ends = isEndOfEntry(after) && opening.test(cutTextBeside(last.line, last.mark.from));
  if (kind !== "row" && !begins && !ends) return undefined;
  const text = lines
    .map((line) => cutTextBeside(line))
    .filter((part) => kind !== "row" || !/^\s*\d{1,3}\s*$/.test(part))
    .join(" | ")
    .replace(NAME, "");
  return /\d/.test(text.replace(DATE, "")) ? "address" : "title";
}

const isAddress = (text: string) => /^(?:https?:\/\/|www\.|10\.\d)/i.test(text);

/** Returns a line up to an offset, without labels and bare addresses. */
function cutTextBeside({ text, marks }: ReportLine, end = text.length): string {
  let rest = "";
  let at = 0;
  for (const { from, to, labels } of marks)
    if (from >= at && to <= end && (labels.length > 0 || isAddress(text.slice(from, to)))) {
      rest += text.slice(at, from);
      at = to;
    }
  return (rest + text.slice(at, end)).replace(LIST_NUMBER, "");
}
