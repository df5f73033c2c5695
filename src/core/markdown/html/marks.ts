import { openable } from "../document.js";
import { anchor, escapeHtml, textHtml } from "./blocks.js";

/** What is said of a place of a result, or of one of its fields. */
export interface PageMark {
  /** Where the place ends, in UTF-16 units; of a field 0. */
  end: number;
  /** As in `companies.0.name`. */
  field: string | null;
  word: string;
  /** How it looks: a class of the page's style. */
  look: "done" | "bad" | "idle";
  claim: string;
  /** Sentences about it. */
  notes: readonly string[];
  /** The text that it was found in. */
  passage: string | null;
  urls: readonly string[];
}

/** `text` with a sign at the end of each mark, and what makes links to the marks' list of the signs in its HTML. */
export function withSigns(
  text: string,
  marks: readonly PageMark[],
): { text: string; linked: (html: string) => string } {
  let sign = "\ue000";
  // A character for private use that the text does not have.
  while (text.includes(sign)) sign = String.fromCharCode(sign.charCodeAt(0) + 1);
  let signed = "";
  let at = 0;
  for (const [i, { end }] of marks.entries()) {
    const to = Math.max(at, end);
    signed += `${text.slice(at, to)} ${sign}${i}${sign}`;
    at = to;
  }
  const pattern = new RegExp(`${sign}(\\d+)${sign}`, "g");
  return {
    text: signed + text.slice(at),
    linked: (html) => html.replace(pattern, (_, i) => linkOf(marks[Number(i)], Number(i))),
  };
}

/** The links of the marks of a field. */
export function fieldLinks(marks: readonly PageMark[]): (path: string) => string {
  const links = new Map<string, string>();
  for (const [i, mark] of marks.entries()) {
    const path = mark.field ?? "";
    links.set(path, `${links.get(path) ?? ""} ${linkOf(mark, i)}`);
  }
  return (path) => links.get(path) ?? "";
}

function linkOf(mark: PageMark | undefined, i: number): string {
  return mark ? `<a class="mark ${mark.look}" id="m${i}" href="#c${i}">${escapeHtml(mark.word)}</a>` : "";
}

/** The list that the marks lead to. `summary` stands over it. */
export function marksSection(marks: readonly PageMark[], summary: string): string {
  const items = marks.map(({ word, look, claim, notes, passage, urls }, i) => {
    const lines = [...notes.map(textHtml), ...urls.map(linked)];
    const quote = passage === null ? "" : `\n<blockquote dir="auto">${textHtml(passage)}</blockquote>`;
    const head = `<a class="mark ${look}" href="#m${i}">${escapeHtml(word)}</a> ${textHtml(claim)}`;
    return `<li id="c${i}" dir="auto">${[head, ...lines].join("<br>\n")}${quote}</li>`;
  });
  return `<section class="marks"><h2>What the sources say</h2>\n<p>${escapeHtml(summary)}</p>\n<ol>\n${items.join("\n")}\n</ol></section>`;
}

function linked(url: string): string {
  const href = openable(url);
  return href === undefined ? escapeHtml(url) : anchor(href, escapeHtml(url));
}
