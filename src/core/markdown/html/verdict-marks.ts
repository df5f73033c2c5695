import { normalizeLink } from "../document-types.js";
import { escapeHtml, Insertions, renderExternalLink } from "./render-blocks.js";

/** The outcome of the check of one sentence or field of a result. */
export interface VerdictMark {
  /** Where the sentence ends in the report, in UTF-16 units; 0 for a field of a structured result. */
  end: number;
  /** The path of the field, such as `companies.0.name`; null for a sentence. */
  field: string | null;
  word: string;
  /** The class of the page's style that colours it. */
  look: "done" | "bad" | "idle";
  claim: string;
  /** Explanations, each a sentence. */
  notes: readonly string[];
  /** The passage of a cited page that fits the sentence best; null if none fits. */
  passage: string | null;
  urls: readonly string[];
}

export interface VerdictMarks {
  /** The marks in the order of the text. */
  all: readonly VerdictMark[];
  /** A sentence that sums the check up. */
  summary: string;
  /** The ends of the sentences that cite nothing, in UTF-16 units. */
  uncited: readonly Pick<VerdictMark, "end" | "field">[];
}

/** Builds the signs that follow the sentences of a document: a link from each mark to its entry in the list. */
export function renderMarkLinks(
  { all, uncited }: Pick<VerdictMarks, "all" | "uncited"> = { all: [], uncited: [] },
): Insertions {
  const signs = [
    ...all.map((mark, i) => ({ end: mark.end, html: renderMarkLink(mark, i) })),
    ...uncited.map(({ end }) => ({ end, html: UNCITED })),
  ];
  return new Insertions(signs.sort((a, b) => a.end - b.end));
}

/** Returns a function that renders the links of the marks of a field. */
export function createFieldMarkRenderer({
  all,
  uncited,
}: Pick<VerdictMarks, "all" | "uncited">): (path: string) => string {
  const links = new Map(uncited.map(({ field }) => [field ?? "", ` ${UNCITED}`]));
  for (const [i, mark] of all.entries()) {
    const path = mark.field ?? "";
    links.set(path, `${links.get(path) ?? ""} ${renderMarkLink(mark, i)}`);
  }
  return (path) => links.get(path) ?? "";
}

const UNCITED = '<span class="mark none" title="cites nothing">∅</span>';

function renderMarkLink(mark: VerdictMark, i: number): string {
  return `<a class="mark ${mark.look}" id="m${i}" href="#c${i}">${escapeHtml(mark.word)}</a>`;
}

/** Renders the summary and the list of problems, each with a link to its sentence. */
export function renderProblemList({ all, summary }: VerdictMarks): string {
  const items = all.flatMap(({ look, word, claim, notes }, i) =>
    look === "bad"
      ? `<li dir="auto"><a class="mark bad" href="#m${i}">${escapeHtml(word)}</a> ${escapeHtml([claim, ...notes].join(" – "))}</li>`
      : [],
  );
  const list = items.length > 0 ? `\n<ul>\n${items.join("\n")}\n</ul>` : "";
  return `<section class="marks"><p>${escapeHtml(summary)}</p>${list}</section>`;
}

/** Renders the list to which the marks link. */
export function renderMarkList({ all }: VerdictMarks): string {
  const items = all.map(({ word, look, claim, notes, passage, urls }, i) => {
    const lines = [...notes.map(escapeHtml), ...urls.map(renderLinkedUrl)];
    const quote = passage === null ? "" : `\n<blockquote dir="auto">${escapeHtml(passage)}</blockquote>`;
    const head = `<a class="mark ${look}" href="#m${i}">${escapeHtml(word)}</a> ${escapeHtml(claim)}`;
    return `<li id="c${i}" dir="auto">${[head, ...lines].join("<br>\n")}${quote}</li>`;
  });
  return `<section class="marks"><h2>What the sources say</h2>\n<ol>\n${items.join("\n")}\n</ol></section>`;
}

function renderLinkedUrl(url: string): string {
  const href = normalizeLink(url);
  return href === undefined ? escapeHtml(url) : renderExternalLink(href, escapeHtml(url));
}
