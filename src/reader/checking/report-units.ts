import type { MarkdownBlock } from "../../core/markdown/document-types.js";
import { getVisibleText } from "../../core/markdown/inlines.js";
import { findLinkTarget, ReportLine } from "./report-line.js";

/** A paragraph, list item or table row of a report, or a part without claims. */
export interface ReportUnit {
  /** `gap`: a heading, code or a rule. `aside`: citations for other units. `note`: a definition. These three make no claims. */
  kind: "text" | "item" | "row" | "gap" | "aside" | "note";
  /** The text of the unit, as one line or, for a row, one line per cell. */
  lines: ReportLine[];
  /** For a row, the column titles. */
  over: string;
  /** Set if the unit may be an entry of a list of works: a list item, a numbered row or line, or a definition. */
  entry: WorkEntry | undefined;
  /** Other lines whose marks belong to this unit. */
  cites: ReportLine[];
}

export interface WorkEntry {
  /** The numbers or names by which marks may refer to the entry. */
  labels: string[];
  /** The list; all its entries have the same object. */
  list: { of: "items" | "rows" | "lines" | "notes" };
  urls: string[];
}

/** Matches the number of an item that Markdown does not recognize as a list: `(1) `, `1\\. `, `1、`. */
export const LIST_NUMBER = /^\s*[([（]?(\d{1,3})(?:[.)\]]\s|[、．）])/;
/** Matches a label before addresses, such as `Source:`. */
const LABEL = /^[\s([]*(?:\p{L}[\p{L}-]{0,20}\s?){1,3}:/u;

/** Reads the units of a report, in order. */
export class UnitReader {
  readonly units: ReportUnit[] = [];
  /** The list that the current run of numbered lines belongs to; undefined outside of such a run. */
  #lines: WorkEntry["list"] | undefined;
  readonly #notes = { of: "notes" } as const;

  /** Reads blocks. `entry`: the list item that contains them. */
  read(blocks: readonly MarkdownBlock[], entry?: WorkEntry): void {
    let before: ReportUnit[] = [];
    for (const [i, block] of blocks.entries()) {
      const begin = this.units.length;
      this.#block(block, before, { entry, kind: entry && i === 0 ? "item" : "text" });
      const units = this.units.slice(begin);
      const [place] = before;
      const isFile =
        place?.lines[0]?.marks[0]?.from === 0 && place.lines[0].urls.every((url) => /^[^:]+:\d+$/.test(url));
      // A line with only `file:line` cites the quotation below it, as `try` writes its passages.
      if (block.kind === "quote" && place && before.length === 1 && isFile) {
        place.kind = "aside";
        for (const unit of units) unit.cites.push(...place.lines);
      }
      if (units.some(({ kind }) => kind !== "aside")) before = units.filter(({ kind }) => kind !== "gap");
    }
  }

  #block(block: MarkdownBlock, before: readonly ReportUnit[], of: Pick<ReportUnit, "kind" | "entry">): void {
    if (block.kind === "paragraph") this.#addParagraph(new ReportLine(block.inlines), before, of);
    else if (block.kind === "quote") this.read(block.blocks, of.entry);
    else if (block.kind === "html") this.#addHtml(block.blocks, of.entry);
    else if (block.kind === "list") {
      const list = { of: "items" } as const;
      for (const { number, blocks } of block.items)
        this.read(blocks, { labels: number ? [number] : [], list, urls: [] });
    } else if (block.kind === "table") {
      const list = { of: "rows" } as const;
      const over = block.head.map(getVisibleText).join(" | ");
      for (const row of block.rows) {
        const lines = row.map((cell) => new ReportLine(cell, true));
        const number = lines.flatMap(
          ({ text }) => /^\s*[[(]?(\d{1,3})[\])]?\.?\s*$/.exec(text)?.[1] ?? [],
        )[0];
        const entry = number === undefined ? undefined : { labels: [number], list, urls: [] };
        this.#push({ kind: "row", entry }, lines, over);
      }
    } else if (block.kind === "definition" || block.kind === "note") {
      const urls = block.kind === "definition" ? findLinkTarget(block.address) : [];
      // Remove the second ^ of [^1^], which Kimi writes.
      const entry = { labels: [block.label.replace(/\^$/, "")], list: this.#notes, urls };
      this.#push({ kind: "note", entry }, block.kind === "note" ? [new ReportLine(block.inlines)] : []);
    } else {
      this.#lines = undefined;
      this.#push({ kind: "gap", entry: undefined }, []);
    }
  }

  /** Reads a block of HTML. The items of its lists are entries; the rest is paragraphs. */
  #addHtml(blocks: readonly MarkdownBlock[], entry: WorkEntry | undefined): void {
    let list: WorkEntry["list"] = { of: "items" };
    let count = 0;
    for (const block of blocks) {
      const [first] = block.kind === "paragraph" ? block.inlines : [];
      const [tag = ""] = (first?.kind === "tag" && /^<(?:li|[ou]l)\b/i.exec(first.text)) || [];
      const isItem = /li$/i.test(tag);
      if (tag !== "" && !isItem) [list, count] = [{ of: "items" }, 0];
      this.read([block], isItem ? { labels: [`${++count}`], list, urls: [] } : entry);
    }
  }

  #push({ kind, entry }: Pick<ReportUnit, "kind" | "entry">, lines: ReportLine[], over = ""): void {
    this.units.push({ kind, entry, lines, over, cites: [] });
    entry?.urls.push(...lines.flatMap(({ urls }) => urls));
  }

  #addParagraph(
    line: ReportLine,
    before: readonly ReportUnit[],
    of: Pick<ReportUnit, "kind" | "entry">,
  ): void {
    const labels = listEntryLabels(line);
    const last = this.units.at(-1)?.entry;
    const isAside = hasOnlyAddresses(line);
    if (labels.length > 0) {
      const isMark = line.marks[0]?.labels.includes(labels[0] ?? "");
      this.#lines ??= { of: isMark ? "lines" : "items" };
      of.entry?.labels.push(...labels);
      this.#push({ ...of, entry: of.entry ?? { labels, list: this.#lines, urls: [] } }, [line]);
    } else if (isAside && this.#lines && last?.list === this.#lines)
      // The address of an entry may be on the line after its title.
      this.#push({ ...of, entry: last }, [line]);
    else if (isAside && before.length > 0) {
      for (const unit of before) unit.cites.push(line);
      this.#push({ kind: "aside", entry: undefined }, [line]);
      // The address of a work may be in a separate paragraph of the item.
      of.entry?.urls.push(...line.urls);
    } else if (line.text.trim() !== "") {
      if (!of.entry) this.#lines = undefined;
      this.#push(of, [line]);
    }
  }
}

/** Lists the numbers or names at the beginning of a line, by which marks may refer to it; empty if no text follows. */
function listEntryLabels({ text, marks }: ReportLine): string[] {
  const labels: string[] = [];
  let at = 0;
  for (const mark of marks) {
    if (mark.labels.length === 0 || /[^\s,;–-]/.test(text.slice(at, mark.from))) break;
    labels.push(...mark.labels);
    at = mark.to;
  }
  const [number = "", digits] = (labels.length === 0 && LIST_NUMBER.exec(text)) || [];
  if (digits) labels.push(digits);
  return /\p{L}/u.test(text.slice(at + number.length)) ? labels : [];
}

/** Returns whether a line consists only of addresses, possibly after a label. */
function hasOnlyAddresses({ text, marks }: ReportLine): boolean {
  let rest = "";
  let at = 0;
  for (const { from, to, certainty } of marks) {
    const isSentence = certainty === "link" && /^(?:\S+\s+){4}[\s\S]*[.!?。]$/.test(text.slice(from, to));
    rest += text.slice(at, isSentence ? to : from);
    at = to;
  }
  rest += text.slice(at);
  // The end of most lines shows already that they have words, which is faster than looking for a label.
  const hasWords = (part: string) => /[\p{L}\p{N}]/u.test(part);
  return at > 0 && !hasWords(rest.slice(rest.lastIndexOf(":") + 1)) && !hasWords(rest.replace(LABEL, ""));
}
