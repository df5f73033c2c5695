import type { Passage, SourceDocument } from "../sources/source.js";

/** What a model noted, with a quote that was found in its source. */
export interface Fact {
  /** What the model makes of the quote; not checked. */
  claim: string;
  document: SourceDocument;
  /** Where the quote begins, from 1. */
  line: number;
  /** The headings above it, outermost first; empty if there are none. */
  heading: string;
  /** The titles of the columns, if the quote is a row of a table. */
  header?: Passage["header"];
  /** A part of one block, as it stands in the source, line breaks included. */
  quote: string;
}

/** What a sentence may take its numbers from: the quote and what stands over it. */
export function groundOf({ heading, header, quote }: Fact): string {
  return [heading, ...(header ?? []), quote].join("\n");
}

/** `file:line`, as reports name a place; of a page its title, its address and when it was read. */
export function placeOf({ document, line }: Pick<Fact, "document" | "line">): string {
  const { id, title, url, accessed } = document;
  if (url === undefined) return `\`${id}:${line}\``;
  return `[${title.replace(/[[\]]/g, "")}](${url})${accessed ? `, read ${accessed.slice(0, 10)}` : ""}`;
}

/** Where a fact stands in a document, with its date if one is known: what tells two sources apart that disagree. */
export function originOf({ document, heading }: Fact): string {
  return [document.title, heading.split(" / ").at(-1), document.date].filter(Boolean).join(", ");
}
