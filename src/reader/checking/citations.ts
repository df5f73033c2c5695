import { decodeHTMLStrict } from "entities/decode";
import type { Citation } from "../../core/protocol/citations.js";
import { quotationPlaces } from "../matching/quotations.js";
import { isAbbreviated, sentencesIn } from "../reading/sentences-in.js";
import { type Mark, marksIn } from "./marks.js";

/** A sentence, list item, table row or field of a report with the addresses that it cites. */
export interface CitedClaim {
  /** Without marks and Markdown, on one line. */
  text: string;
  /** Of a structured result, where it stands in it. */
  field: string | undefined;
  /** Of a row, the heads of its columns; of a field, its name; else empty. */
  over: string;
  /** Each once: of the web as they stand in the report, or `file:line`. Not empty. */
  urls: string[];
  /** Where it ends in the report, in UTF-16 units. */
  end: number;
}

export interface CitedClaims {
  claims: CitedClaim[];
  /** How many sentences, items, rows and fields cite nothing. */
  uncited: number;
}

/** What a provider says of a result beside its text. */
export interface GivenCitations {
  citations: readonly Citation[];
  /** The addresses of its list of sources, the one with the number 1 first. */
  sources: readonly string[];
}

/** A paragraph, list item or row of a table; offsets in UTF-16 units. */
interface ReportBlock {
  kind: "text" | "item" | "row";
  start: number;
  end: number;
  /** Of a row, the heads of its columns. */
  over?: string;
  /** Of a quotation, what the line over it cites. */
  cited?: readonly string[] | undefined;
}

interface Sentence {
  text: string;
  start: number;
  end: number;
  urls: Set<string>;
  /** Whether it has nothing but links in it. */
  isLinks: boolean;
  /** Whether it cites behind its last word. */
  citesAtEnd: boolean;
}

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/;
/** A line that stands over a list as a heading does. */
const LABEL_LINE = /^\s*(?:\*\*|__)?([^*_:|]{3,40}):?(?:\*\*|__)?:?\s*$/;
const UNDERLINE = /^ {0,3}(?:=+|-{2,})\s*$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const ITEM = /^\s*(?:[-*+•]|(\d{1,3})[.)])\s+(?:\[[ xX]\]\s+)?/;
/** An item that is the place of the quotation below it, and may name the headings there. */
const PLACE = /^`[^`]+:\d+`(?:, .*)?$/;
const QUOTATION = /^\s*>/;
const DEFINITION =
  /^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(?:\[\^?([^[\]\s][^[\]]{0,60})\](?!\()|【(\d{1,4})】)(:?)\s*(?=\S)/;
/** Headings over the list of what a report cites. */
const SOURCES =
  /^(?:\d+[.)]?\s+)?(?:(?:list of|cited|key|main|primary|further|all)\s+)?(?:sources?|references?|citations?|bibliography|works cited|footnotes?|endnotes|notes|quotes|links|reading|quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|einzelnachweise|nachweise|belege|referenzen|fußnoten|zitate|références|citations|fuentes|referencias|citas|fonti|riferimenti|bronnen|fontes|referências)(?:\s+(?:cited|used|consulted|and\s+\w+|und\s+\w+))?:?$/i;
/** Words beside a link that say no more than that it is the source. */
const SOURCE_WORDS =
  /(?<!\p{L})(?:sources?|quellen?|see|also|siehe|auch|vgl|via|cf|and|und|or|references?|from|according to|zitiert nach|link|links)(?!\p{L})/giu;
/** Stands in the place of a mark: white space that no report has. */
const BLANK = "\v";
/** Brackets and tags that have nothing but marks in them. */
const AROUND_MARKS = new RegExp(`\\((?:${SOURCE_WORDS.source}|[\\s,;:.&*_])*\\)|<sup>[\\s,;]*</sup>`, "giu");
/** A full stop before or behind a mark ends a sentence, unless a small letter follows. */
const MARK_AFTER_SENTENCE =
  /(?:[.!?…]["”“’»)\]*_]*[ \t\n]*\v|\v[)\]*_"”“]{0,3}[.!?]["”“)*_]{0,3}\s)\s*(?!\s|\p{Ll}+(?![\p{L}\p{N}]))/gu;

/** The citations of a report in Markdown, in their order. Takes time in proportion to the text. */
export function claimsIn(report: string, given: GivenCitations): CitedClaims {
  const { blocks, listed } = readReport(report);
  for (const [i, url] of given.sources.entries())
    if (url && !listed.has(`${i + 1}`)) listed.set(`${i + 1}`, [url]);
  const ranges = given.citations.flatMap((one) => ("start" in one && one.end <= report.length ? one : []));
  ranges.sort((a, b) => a.end - b.end);
  const claims: CitedClaim[] = [];
  let uncited = 0;
  let next = 0;
  for (const block of blocks) {
    const sentences = sentencesOf(report, block, listed);
    for (const url of block.cited ?? []) for (const one of sentences) one.urls.add(url);
    for (; (ranges[next]?.end ?? Infinity) <= block.end; next++) {
      const { start, end, url } = ranges[next] ?? { start: 0, end: 0, url: "" };
      for (const one of sentences)
        if ((one.start < end && end <= one.end) || (start <= one.start && one.end <= end)) one.urls.add(url);
    }
    for (const { text, urls, end } of claimed(sentences, block.kind)) {
      if (urls.size > 0)
        claims.push({ text, field: undefined, over: block.over ?? "", urls: [...urls], end });
      else uncited += 1;
    }
  }
  return { claims, uncited };
}

/** The blocks of a report that say something, and the addresses of its lists by their number or name. */
function readReport(report: string): { blocks: ReportBlock[]; listed: Map<string, string[]> } {
  const blocks: ReportBlock[] = [];
  const listed = new Map<string, string[]>();
  let open: ReportBlock | undefined;
  /** The addresses of the entry that is read. */
  let entry: string[] | undefined;
  let fence: string | undefined;
  let sources: "heading" | "label" | undefined;
  let unnumbered = 0;
  let isTable = false;
  let head = "";
  let cited: string[] | undefined;
  const close = () => {
    if (open && open.end > open.start) blocks.push(open);
    open = undefined;
    entry = undefined;
  };
  /** A heading or a label begins a list of what is cited, or ends it. */
  const begin = (kind: typeof sources) => {
    close();
    sources = kind;
    unnumbered = 0;
  };
  const list = (label: string, text: string) => {
    close();
    // A list that was put behind the report has numbers of its own.
    entry = [];
    if (!listed.has(label)) listed.set(label, entry);
    entry.push(...addressesIn(text));
  };
  const lines = report.split("\n");
  let end = -1;
  for (const [i, line] of lines.entries()) {
    const start = end + 1;
    end = start + line.length;
    const [, mark] = FENCE.exec(line) ?? [];
    const [, heading] = HEADING.exec(line) ?? [];
    const definition = DEFINITION.exec(line);
    const item = ITEM.exec(line);
    const [below = "", next = ""] = lines.slice(i + 1, i + 3).map((one) => one.slice(0, 2_000));
    const isRule = TABLE_RULE.test(below);
    const isAlone = (lines[i - 1] ?? "").trim() === "";
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) {
      close();
      fence = mark;
    } else if (line.trim() === "") {
      close();
      isTable = false;
      head = "";
    } else if (
      heading !== undefined ||
      (UNDERLINE.test(below) && open === undefined && !item && !line.includes("|"))
    )
      begin(SOURCES.test((heading ?? line).replace(/[*_]/g, "").trim()) ? "heading" : undefined);
    else if (UNDERLINE.test(line)) close();
    else if (isAlone && SOURCES.test(LABEL_LINE.exec(line)?.[1]?.trim() ?? "")) begin("label");
    else if (
      definition &&
      (definition[3] === ":" || sources || addressesIn(line.slice(definition[0].length)).length > 0)
    )
      list((definition[1] ?? definition[2] ?? "").toLowerCase(), line.slice(definition[0].length));
    else if (sources && item) list(item[1] ?? String(++unnumbered), line.slice(item[0].length));
    else if (sources === "heading" || (sources && addressesIn(line).length > 0))
      entry?.push(...addressesIn(line));
    else if (TABLE_RULE.test(line) && (line.includes("|") || isTable)) isTable = true;
    else if (line.includes("|") && (isTable || /^\s*\|/.test(line) || (isRule && below.includes("|")))) {
      close();
      isTable = true;
      sources = undefined;
      // The heads of the columns say nothing by themselves.
      if (isRule) head = line;
      else blocks.push({ kind: "row", start, end, over: head });
    } else if (item && PLACE.test(line.slice(item[0].length)) && QUOTATION.test(below.trim() || next)) {
      close();
      cited = addressesIn(line);
    } else {
      sources = undefined;
      if (item) close();
      if (!QUOTATION.test(line)) cited = undefined;
      open ??= { kind: item ? "item" : "text", start: start + (item?.[0].length ?? 0), end, cited };
      open.end = end;
    }
  }
  close();
  return { blocks, listed };
}

/** The addresses of an entry of a list. */
function addressesIn(text: string): string[] {
  return marksIn(text).flatMap(({ urls }) => urls);
}

/** The sentences of a block with what they cite; a row of a table is one. */
function sentencesOf(
  report: string,
  { kind, start, end }: ReportBlock,
  listed: ReadonlyMap<string, string[]>,
): Sentence[] {
  const raw = report.slice(start, end);
  const marks = marksIn(raw, listed);
  const shown = blanked(raw, marks, true);
  const bare = blanked(raw, marks, false);
  const found: Sentence[] = [];
  let next = 0;
  let index = 0;
  for (const last of kind === "row" ? [shown.length] : sentenceEnds(shown)) {
    const segment = shown.slice(index, last);
    const urls = new Set<string>();
    let behind = index;
    for (let mark = marks[next]; mark && mark.start < last; mark = marks[++next]) {
      behind = mark.end;
      for (const url of [...mark.urls, ...mark.labels.flatMap((label) => listed.get(label) ?? [])])
        urls.add(url);
    }
    const cells = kind === "row" ? segment.split(/(?<!\\)\|/) : [segment];
    const text = cells.map(plainText).filter(Boolean).join(" | ");
    const isLinks = !/[\p{L}\p{Nd}]/u.test(bare.slice(index, last).replace(SOURCE_WORDS, ""));
    const citesAtEnd = !/[\p{L}\p{N}]/u.test(raw.slice(behind, last));
    const own = raw.slice(index, last).trimEnd();
    const to = kind === "row" ? own.replace(/\s*\|$/, "") : own;
    found.push({ text, start: start + index, end: start + index + to.length, urls, isLinks, citesAtEnd });
    index = last;
  }
  return found;
}

/** Where the sentences of a text end whose marks are blanked: none inside a quotation, one behind a mark after a full stop. */
function sentenceEnds(shown: string): number[] {
  const quoted = quotationPlaces(shown);
  const atMarks = [...shown.matchAll(MARK_AFTER_SENTENCE)].flatMap(({ 0: found, index }) =>
    isAbbreviated(shown.slice(Math.max(0, index - 20), index + 1)) ? [] : index + found.length,
  );
  const all = [...sentencesIn(shown)].map(({ segment, index }) => index + segment.length);
  let next = 0;
  return [...new Set([...all, ...atMarks])]
    .sort((a, b) => a - b)
    .filter((end) => {
      while ((quoted[next]?.end ?? Infinity) <= end) next += 1;
      return (quoted[next]?.start ?? Infinity) >= end;
    });
}

/** `raw` in its length without its marks, `withText`: but with the text of links. */
function blanked(raw: string, marks: readonly Mark[], withText: boolean): string {
  let text = "";
  let at = 0;
  for (const mark of marks) {
    const kept = withText ? mark.text : undefined;
    const shown = kept ? raw.slice(kept.start, kept.end) : "";
    text += raw.slice(at, mark.start);
    text += BLANK.repeat((kept?.start ?? mark.end) - mark.start) + shown;
    text += BLANK.repeat(kept ? mark.end - kept.end : 0);
    at = mark.end;
  }
  return (text + raw.slice(at)).replace(AROUND_MARKS, (all) =>
    all.includes(BLANK) ? BLANK.repeat(all.length) : all,
  );
}

/** A sentence takes the links behind it, and an item that cites at its end alone is one. */
function claimed(sentences: readonly Sentence[], kind: ReportBlock["kind"]): Sentence[] {
  const found: Sentence[] = [];
  for (const one of sentences) {
    const before = found.at(-1);
    if (one.isLinks && before) {
      for (const url of one.urls) before.urls.add(url);
      before.end = one.end;
      before.citesAtEnd = true;
    } else if (/\p{L}|\p{Nd}/u.test(one.text) && !(one.isLinks && one.text.split(" ").length < 5))
      found.push({ ...one });
  }
  const last = found.at(-1);
  const isWhole =
    kind === "item" && last?.citesAtEnd && found.slice(0, -1).every(({ urls }) => urls.size === 0);
  return isWhole && last.urls.size > 0 ? [{ ...last, text: found.map(({ text }) => text).join(" ") }] : found;
}

/** Text without Markdown, on one line. */
function plainText(markdown: string): string {
  return decodeHTMLStrict(
    markdown
      .replace(/^[ \t]*>+ ?/gm, "")
      .replace(/<sup>(?=\d)/gi, "^")
      // TeX writes the comma of 1,000 as {,}.
      .replaceAll("{,}", ",")
      .replace(/<\/?[a-z][^<>]{0,500}>/gi, "")
      .replace(
        /(?<![\p{L}\p{N}*_\\])(?:\*{1,3}|_{1,3})(?=\S)|(?<=[^\s\\])(?:\*{1,3}|_{1,3})(?![\p{L}\p{N}*_])|~~|`/gu,
        "",
      )
      .replace(/\\(?=[!-/:-@[-`{-~])/g, ""),
  )
    .replace(/\s+/g, " ")
    .replace(/\[\s*\]/g, "")
    .replace(/\s+(?=[.,;:!?)](?!\d))/g, "")
    .replace(/\s{2,}/g, " ")
    .trim();
}

/** The fields of a structured result that a provider gives addresses for, or whose text cites some itself. */
export function claimsOfFields(
  value: unknown,
  { citations }: Pick<GivenCitations, "citations">,
): CitedClaims {
  const cited = new Map<string, Set<string>>();
  for (const one of citations) {
    if (!("field" in one)) continue;
    for (const path of pathsOf(one.field)) cited.set(path, (cited.get(path) ?? new Set()).add(one.url));
  }
  const claims: CitedClaim[] = [];
  let uncited = 0;
  const visit = (each: unknown, path: string, isCited: boolean): string[] => {
    const urls = cited.get(path);
    const texts =
      typeof each === "object" && each !== null
        ? Object.entries(each).flatMap(([name, one]) =>
            visit(one, path === "" ? name : `${path}.${name}`, isCited || urls !== undefined),
          )
        : each === null || each === ""
          ? []
          : [typeof each === "string" ? blanked(each, marksIn(each), true) : String(each)];
    const text = plainText(texts.join("; "));
    const own =
      typeof each === "string" && !isCited && !urls && claimsIn(each, { citations: [], sources: [] });
    if (urls && text !== "") claims.push({ text, field: path, over: path, urls: [...urls], end: 0 });
    else if (own && own.claims.length > 0) {
      claims.push(...own.claims.map((one) => ({ ...one, field: path, over: path, end: 0 })));
      uncited += own.uncited;
    } else if (!isCited && typeof each !== "object" && text !== "") uncited += 1;
    return texts;
  };
  visit(value, "", false);
  return { claims, uncited };
}

/** `$.companies[0]['name']` and `companies.0.name` name the same field; a provider may name the whole output before it. */
function pathsOf(field: string): string[] {
  const path = field.replace(/\[["']?([^\]"']*)["']?\]/g, ".$1").replace(/^[$.]+/, "");
  return [...new Set([path, path.replace(/^(?:output|structured|content)(?:\.|$)/, "")])];
}
