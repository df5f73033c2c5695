import { normalizeAddress } from "../document.js";
import { escapeHtml, escapeHtmlText, renderAnchor, Signs } from "./blocks.js";

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

export interface PageMarks {
  /** In the order of their places. */
  all: readonly PageMark[];
  /** A sentence about all of them. */
  summary: string;
  /** Where the sentences end that cite nothing, in UTF-16 units. */
  uncited: readonly Pick<PageMark, "end" | "field">[];
}

/** The signs behind the places of a document: of a mark the link to what is said of it. */
export function renderSigns(
  { all, uncited }: Pick<PageMarks, "all" | "uncited"> = { all: [], uncited: [] },
): Signs {
  const signs = [
    ...all.map((mark, i) => ({ end: mark.end, html: renderLink(mark, i) })),
    ...uncited.map(({ end }) => ({ end, html: UNCITED })),
  ];
  return new Signs(signs.sort((a, b) => a.end - b.end));
}

/** The links of the marks of a field. */
export function createFieldLinks({
  all,
  uncited,
}: Pick<PageMarks, "all" | "uncited">): (path: string) => string {
  const links = new Map(uncited.map(({ field }) => [field ?? "", ` ${UNCITED}`]));
  for (const [i, mark] of all.entries()) {
    const path = mark.field ?? "";
    links.set(path, `${links.get(path) ?? ""} ${renderLink(mark, i)}`);
  }
  return (path) => links.get(path) ?? "";
}

const UNCITED = '<span class="mark none" title="cites nothing">∅</span>';

function renderLink(mark: PageMark, i: number): string {
  return `<a class="mark ${mark.look}" id="m${i}" href="#c${i}">${escapeHtml(mark.word)}</a>`;
}

/** What is wrong, which leads to its places, with the summary over it. */
export function renderWrong({ all, summary }: PageMarks): string {
  const items = all.flatMap(({ look, word, claim, notes }, i) =>
    look === "bad"
      ? `<li dir="auto"><a class="mark bad" href="#m${i}">${escapeHtml(word)}</a> ${escapeHtmlText([claim, ...notes].join(" – "))}</li>`
      : [],
  );
  const list = items.length > 0 ? `\n<ul>\n${items.join("\n")}\n</ul>` : "";
  return `<section class="marks"><p>${escapeHtml(summary)}</p>${list}</section>`;
}

/** The list that the marks lead to. */
export function renderMarks({ all }: PageMarks): string {
  const items = all.map(({ word, look, claim, notes, passage, urls }, i) => {
    const lines = [...notes.map(escapeHtmlText), ...urls.map(renderLinkedUrl)];
    const quote = passage === null ? "" : `\n<blockquote dir="auto">${escapeHtmlText(passage)}</blockquote>`;
    const head = `<a class="mark ${look}" href="#m${i}">${escapeHtml(word)}</a> ${escapeHtmlText(claim)}`;
    return `<li id="c${i}" dir="auto">${[head, ...lines].join("<br>\n")}${quote}</li>`;
  });
  return `<section class="marks"><h2>What the sources say</h2>\n<ol>\n${items.join("\n")}\n</ol></section>`;
}

function renderLinkedUrl(url: string): string {
  const href = normalizeAddress(url);
  return href === undefined ? escapeHtml(url) : renderAnchor(href, escapeHtml(url));
}
