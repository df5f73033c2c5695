import { decodeHTMLStrict } from "entities/decode";
import type { Inline, Span } from "../../core/markdown/document-types.js";
import { getVisibleText } from "../../core/markdown/inlines.js";
import {
  expandNumberRanges,
  type FoundMark,
  findCitationMarks,
  isRaisedPower,
  OBJECT,
} from "./citation-marks.js";

/** A mark in a line, with its place in the report. The text of a `link` may be part of the sentence. */
export type CitationMark = FoundMark & Span;

const FILE =
  /^(?:\.\/)?(\/?(?:[\w.@+-]+\/)*[\w.@+-]*\.[A-Za-z]\w{0,9})(?::(\d+)(?:-\d+)?|#L(\d+)(?:-L?\d+)?)?$/;
/** Matches what some services write instead of an address. A mark with it has no source. */
const NO_ADDRESS = /^(?:turn\d|grok_render|(?:start|end)_span$|attached_file|cite)/;

/** A paragraph, list item or cell as one text, with its marks. */
export class ReportLine {
  text = "";
  /** The marks in order, without overlaps. */
  marks: CitationMark[] = [];
  /** The parts of the text: the offset at which each begins, and its place in the report. */
  #parts: (Span & { from: number })[] = [];
  /** The text in which marks are searched, with objects in place of links, code and pictures. */
  #masked = "";
  /** The end of the text so far. It shows whether a raised number is a power, and whether a tag separates two numbers. */
  #tail = "";
  #isBehindTag = false;

  constructor(inlines: readonly Inline[], isCell = false) {
    for (const inline of inlines) this.#add(inline);
    for (const mark of findCitationMarks(this.#masked, isCell))
      this.marks.push({ ...mark, ...this.placeOf(mark.from, mark.to) });
    // Copy the array to save memory: one that grew has room for 17 items, and a report may have half a million lines.
    this.marks = [...this.marks].sort((a, b) => a.from - b.from);
    this.#parts = [...this.#parts];
    this.#masked = "";
  }

  /** The addresses that the line cites. */
  get urls(): string[] {
    return this.marks.flatMap(({ urls }) => urls);
  }

  /** Returns the place in the report of a part of the line's text. */
  placeOf(from: number, to: number): Span {
    const findOffset = (offset: number) => {
      const part = this.#parts[findFirstIndex(this.#parts, (part) => part.from > offset) - 1];
      return part ? Math.min(part.start + offset - part.from, part.end) : 0;
    };
    const start = findOffset(from);
    return { start, end: to > from ? findOffset(to - 1) + 1 : start };
  }

  #add(inline: Inline): void {
    if (inline.kind === "text") this.#append(inline.text, inline);
    else if (inline.kind === "break") this.#append("\n", inline);
    else if (inline.kind === "note")
      this.#append(inline.text, inline, { certainty: "sure", labels: [inline.label.replace(/\^$/, "")] });
    else if (inline.kind === "code") {
      const [, file, line] = FILE.exec(inline.text.trim()) ?? [];
      this.#append(inline.text, inline, line ? { certainty: "sure", urls: [`${file}:${line}`] } : {});
    } else if (inline.kind === "tag") this.#addTag(inline.text, inline);
    else if (inline.kind === "element") this.#addElement(inline);
    else if (inline.kind === "link" && inline.isImage) this.#append(OBJECT, inline, {});
    else if (inline.kind === "link") this.#addLink(inline.address, inline.inlines, inline);
    else if (inline.kind === "raised") this.#addRaised(inline.inlines, inline);
    else if ("inlines" in inline) for (const child of inline.inlines) this.#add(child);
  }

  #addTag(tag: string, place: Span): void {
    this.#isBehindTag = true;
    if (/^<t[dh]\b/i.test(tag)) this.#append(" | ", place);
    if (/^<grok/i.test(tag)) this.#append("", place, { certainty: "counted" });
  }

  #addRaised(inlines: readonly Inline[], place: Span): void {
    const text = getVisibleText(inlines);
    if (inlines.some(({ kind }) => kind !== "text") || !/^[\d,;\s–-]+$/.test(text))
      for (const inline of inlines) this.#add(inline);
    else {
      const isMark = !isRaisedPower(this.#tail);
      // A raised number that is not a mark is a power, so keep a "^" before it.
      const shown = /[\p{L}\d]$/u.test(this.#tail) ? `^${text}` : text;
      this.#append(shown, place, isMark ? { certainty: "number", labels: expandNumberRanges(text) } : {});
    }
  }

  /** Adds a part. With `mark` the part is an object, and a mark if `mark` has a certainty. */
  #append(text: string, { start, end }: Span, mark?: Partial<FoundMark>): void {
    const gap = this.#isBehindTag && /\d$/.test(this.#tail) && /^\d/.test(text) ? " " : "";
    this.#isBehindTag = false;
    const from = this.text.length + gap.length;
    this.#parts.push({ from, start, end });
    this.text += gap + text;
    this.#masked += gap + (mark ? OBJECT.repeat(text.length) : text);
    const { certainty, labels = [], urls = [], tail } = mark ?? {};
    this.#tail = (this.#tail + gap + (certainty === "number" ? OBJECT : text.slice(-40))).slice(-40);
    if (certainty) this.marks.push({ certainty, labels, urls, tail, from, to: this.text.length, start, end });
  }

  #addLink(address: string, inlines: readonly Inline[], place: Span): void {
    const text = getVisibleText(inlines);
    const labels = /^[\s\d[\]()^,;]{1,40}$/.test(text) ? (text.match(/(?<!\d)\d{1,3}(?!\d)/g) ?? []) : [];
    // A link within the report whose text is a number leads to an entry of a list.
    if (/^(?:#|mailto:|tel:)/i.test(address))
      this.#append(text, place, labels.length > 0 ? { certainty: "sure", labels } : undefined);
    else if (NO_ADDRESS.test(address)) this.#append(text, place, { certainty: "counted" });
    else if (text !== address)
      this.#append(text, place, { certainty: "link", labels, urls: findLinkTarget(address) });
    else {
      const [tail, digits = ""] = /(?<=[^\d.])\.?(\d{1,3})$/.exec(address) ?? [];
      this.#append(text, place, {
        certainty: "link",
        urls: findLinkTarget(unescapeBareAddress(address)),
        tail,
      });
      const [from, start] = [this.text.length - digits.length, place.end - digits.length];
      const glued = { labels: [digits], urls: [], from, to: this.text.length, start, end: place.end };
      if (tail) this.marks.push({ certainty: "glued", ...glued });
    }
  }

  #addElement({ name, opening, inlines, ...place }: Inline & { kind: "element" }): void {
    const [, address] = /\shref\s*=\s*["']?([^"'\s>]+)/i.exec(opening) ?? [];
    this.#isBehindTag = true;
    if (name === "a" && address !== undefined) this.#addLink(unescapeBareAddress(address), inlines, place);
    // Skip headings and hidden elements, which are not sentences of the report.
    else if (!/^(?:h\d|summary)$/.test(name) && !/display:\s*none/i.test(opening)) {
      for (const inline of inlines) this.#add(inline);
      // Claude's <cite index=…> encloses the text that is cited.
      if (name === "cite" && /\sindex=/.test(opening)) this.#append("", place, { certainty: "counted" });
    }
    this.#isBehindTag = true;
  }
}

/** Decodes Markdown escapes and character references in a bare address, in which exports write them against the standard. */
function unescapeBareAddress(address: string): string {
  return decodeHTMLStrict(address.replace(/\\([!-/:-@[-`{-~])/g, "$1"));
}

/** Returns the address of a link, in a list; empty if it neither has a scheme nor names a file. */
export function findLinkTarget(target: string): string[] {
  const address = target.trim().replace(/\s/g, "%20");
  if (/^[a-z][a-z\d+.-]*:/i.test(address) && !FILE.test(address)) return [address];
  if (address.startsWith("//")) return [`https:${address}`];
  const [, name, line, hash = line] = FILE.exec(address) ?? [];
  return name === undefined ? [] : [hash === undefined ? name : `${name}:${hash}`];
}

/** Returns the index of the first item for which `is` is true, by binary search. `is` must be true for all later items. */
export function findFirstIndex<T>(all: readonly T[], is: (item: T) => boolean): number {
  let [from, to] = [0, all.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (is(all[middle] as T)) to = middle;
    else from = middle + 1;
  }
  return from;
}
