import type { Span } from "../../core/markdown/document-types.js";
import { parseMarkdown } from "../../core/markdown/parse-markdown.js";
import type { Citation } from "../../core/protocol/citations.js";
import { type CitationMark, findFirstIndex } from "./report-line.js";
import { isLinkTextShown, listSentences } from "./report-sentences.js";
import { type ReportUnit, UnitReader } from "./report-units.js";
import { WorksLists } from "./works-lists.js";

/** A sentence, list item, table row or field of a report. Its place includes the marks; a field is at 0. */
export interface CitedClaim extends Span {
  /** The text on one line, without marks and Markdown. */
  text: string;
  /** The path of the field in a structured result; undefined in Markdown. */
  field: string | undefined;
  /** The column titles of a row, or the path of a field; else empty. */
  over: string;
  /** The addresses, or places `file:line`, that the claim cites, each once, as written in the report. */
  urls: string[];
}

export interface ReportClaims {
  /** All claims in the order of the report, including those that cite nothing. */
  claims: CitedClaim[];
  /** The marks without a source, as written. */
  marksWithoutSource: string[];
  /** The addresses in the report's list of works that no claim cites. */
  notCited: string[];
  /** All addresses in a text, in order, with the link text if that says more than "source". */
  links: { url: string; title: string | null }[];
}

/** The citations that a provider returns with the text. `sources` are the addresses of its list, numbered from 1. */
export interface GivenCitations {
  citations: readonly Citation[];
  sources: readonly string[];
}

/** The most citations outside the text that one claim may have. If every sentence had all of them, that would take quadratic time. */
const MOST_MARKS = 100;

/** Matches a model's reasoning before the report, or the front matter of a file. */
const PREFACE = /^\s*<think>[\s\S]*?<\/think>|^---\r?\n(?=[\w-]+:)[\s\S]*?\n---(?=\s)/;

/** Reads the claims of a Markdown report. Takes linear time. */
export function readMarkdownClaims(report: string, { citations, sources }: GivenCitations): ReportClaims {
  // Replace the preface with blanks instead of removing it, so that offsets stay valid.
  const { blocks } = parseMarkdown(report.replace(PREFACE, (preface) => preface.replace(/[^\n]/g, " ")));
  const reader = new UnitReader();
  reader.read(blocks);
  const works = new WorksLists(reader.units, sources);
  const units = reader.units.filter(
    (unit, i) => !works.units.has(unit) && !isTitleOfWorks(unit, works, reader.units[i + 1]),
  );
  const ranges = citations.flatMap((citation) =>
    "start" in citation && citation.end <= report.length ? citation : [],
  );
  ranges.sort((a, b) => a.end - b.end);
  const isMark = (mark: CitationMark) => works.isMark(mark);
  const listUrls = (mark: CitationMark) => [
    ...works.listUrls(mark),
    ...findOverlapping(ranges, mark).map(({ url }) => url),
  ];
  const marks = units.flatMap(({ lines }) => lines.flatMap((line) => line.marks.filter(isMark)));
  const isBare = (mark: CitationMark) =>
    mark.certainty !== "link" && mark.certainty !== "none" && listUrls(mark).length === 0;
  const claims = units.flatMap((unit): CitedClaim[] => {
    if (unit.kind === "aside") return [];
    const beside = unit.cites
      .flatMap((line) => line.marks.filter(isMark))
      .slice(0, MOST_MARKS)
      .flatMap(listUrls);
    return listSentences(unit, isMark).map(({ text, start, end, marks: ownMarks }) => {
      const covering = findOverlapping(ranges, { start, end }).filter(
        (citation) => citation.end <= end || citation.start <= start,
      );
      const urls = new Set([...beside, ...ownMarks.flatMap(listUrls), ...covering.map(({ url }) => url)]);
      return { text, field: undefined, over: unit.over, urls: [...urls], start, end };
    });
  });
  const stripFragment = (url: string) => url.replace(/#.*/, "");
  const cited = new Set(claims.flatMap(({ urls }) => urls.map(stripFragment)));
  const listed = new Set(works.addresses.filter((url) => /^https?:/i.test(url)).map(stripFragment));
  return {
    claims,
    marksWithoutSource: marks.filter(isBare).map(({ start, end }) => report.slice(start, end)),
    notCited: [...listed].filter((url) => !cited.has(url)),
    links: listLinks(reader.units),
  };
}

/** Returns whether a unit is the title of the list of works that follows it. */
function isTitleOfWorks(
  { kind, lines }: ReportUnit,
  works: WorksLists,
  next: ReportUnit | undefined,
): boolean {
  const text = lines.map((line) => line.text).join(" ");
  return kind === "text" && next !== undefined && works.units.has(next) && /^[^.!?\d]{1,60}$/.test(text);
}

function listLinks(units: readonly ReportUnit[]): ReportClaims["links"] {
  return units.flatMap(({ lines, entry }) =>
    lines.length === 0
      ? (entry?.urls ?? []).map((url) => ({ url, title: null }))
      : lines.flatMap(({ text, marks }) =>
          marks.flatMap((mark) => {
            const title = isLinkTextShown(text, mark) ? text.slice(mark.from, mark.to) : null;
            return mark.urls.map((url) => ({ url, title }));
          }),
        ),
  );
}

type CitedRange = Extract<Citation, { start: number }>;

/** Returns the ranges that overlap a place. `ranges` must be sorted by end. */
function findOverlapping(ranges: readonly CitedRange[], { start, end }: Span): CitedRange[] {
  const first = findFirstIndex(ranges, (range) => range.end > start);
  const all: CitedRange[] = [];
  for (let i = first; i < first + MOST_MARKS && (ranges[i]?.start ?? end) < end; i++)
    all.push(ranges[i] as CitedRange);
  return all;
}

/** Lists the fields of a structured result as claims. A field cites the addresses that the provider gives for it, else those in its text. */
export function readFieldClaims(
  value: unknown,
  { citations }: Pick<GivenCitations, "citations">,
): ReportClaims {
  const cited = new Map<string, string[]>();
  for (const citation of citations)
    for (const path of "field" in citation ? listFieldPaths(citation.field) : [])
      cited.set(path, [...new Set([...(cited.get(path) ?? []), citation.url])]);
  const all: ReportClaims = { claims: [], marksWithoutSource: [], notCited: [], links: [] };
  const visit = (each: unknown, path: string, isCited: boolean): string => {
    const urls = cited.get(path) ?? [];
    const isIn = isCited || urls.length > 0;
    const read =
      typeof each === "string" ? readMarkdownClaims(each, { citations: [], sources: [] }) : undefined;
    const parts =
      typeof each === "object" && each !== null
        ? Object.entries(each).map(([name, child]) =>
            visit(child, path === "" ? name : `${path}.${name}`, isIn),
          )
        : (read?.claims.map(({ text }) => text) ?? [String(each ?? "")]);
    const text = parts.filter(Boolean).join(read ? " " : "; ");
    const claim = { text, urls, field: path, over: path, start: 0, end: 0 };
    if (urls.length > 0 && text !== "") all.claims.push(claim);
    else if (!isCited && read?.claims.some((child) => child.urls.length > 0))
      all.claims.push(...read.claims.map((child) => ({ ...claim, text: child.text, urls: child.urls })));
    else if (!isCited && typeof each !== "object" && text !== "") all.claims.push(claim);
    if (!isIn) all.marksWithoutSource.push(...(read?.marksWithoutSource ?? []));
    return text;
  };
  visit(value, "", false);
  return all;
}

/** Returns the possible paths of a field: `$.companies[0]['name']` equals `companies.0.name`, and a provider may prefix the name of the output. */
function listFieldPaths(field: string): string[] {
  const path = field.replace(/\[["']?([^\]"']*)["']?\]/g, ".$1").replace(/^[$.]+/, "");
  return [...new Set([path, path.replace(/^(?:output|structured|content)(?:\.|$)/, "")])];
}
