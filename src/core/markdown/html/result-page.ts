import { createHash } from "node:crypto";
import { shortenLine } from "../../text/phrases.js";
import { joinText } from "../inlines.js";
import { readMarkdown } from "../parse.js";
import { escapeHtml, type PageHeading, renderMarkdown, renderPlain } from "./blocks.js";
import { createFieldLinks, type PageMarks, renderMarks, renderSigns, renderWrong } from "./marks.js";
import { renderPage } from "./page.js";
import { renderStructured } from "./structured.js";

/** The number of headings from which on a page has a table of contents (contract §6). */
const MIN_CONTENTS = 4;
/** The longest question that is a title; the footer has all of it. In UTF-16 units. */
const LONGEST_TITLE = 160;
/** Larger results are shown as received (contract §6). In UTF-16 units. */
const MAX_LAID_OUT = 2 * 1024 * 1024;

export interface PageResult {
  kind: "markdown" | "json";
  /** The result as `output` writes it; valid JSON for `json`. */
  text: string;
  /** The data for the SHA-256, if it is not `text`. */
  digestOf?: string;
  /** The findings about places of the result. */
  marks?: PageMarks | undefined;
}

/** The origin of a result; unknown values are undefined. Times as the service returned them. */
export interface ResultOrigin {
  question?: string | undefined;
  requestId?: string | undefined;
  /** The scheme, host and port of the service. */
  origin?: string | undefined;
  createdAt?: string | undefined;
  completedAt?: string | undefined;
}

/** Renders a result as a page in one file, for reading, printing and keeping. */
export function renderResultPage(result: PageResult, source: ResultOrigin): string {
  const { question, requestId } = source;
  const laidOut = renderContent(result, { withContents: true });
  const checked = result.marks ? `\n${renderMarks(result.marks)}` : "";
  const title = laidOut.title ?? (question && shortenLine(question, LONGEST_TITLE));
  const shown = title || (requestId === undefined ? "Result" : `Result of ${requestId}`);
  const header =
    laidOut.title === undefined
      ? `<header><h1 class="question" dir="auto">${escapeHtml(shown)}</h1></header>\n`
      : "";
  return renderPage({
    title: shown,
    body: `${header}<main lang="">\n${laidOut.content}${checked}\n</main>\n${renderOrigin(source, result.digestOf ?? result.text)}`,
  });
}

/**
 * Renders the HTML of a result, and returns its own title if it has one. `withContents`: adds a table of contents below
 * the title. `longest`: a longer result, in UTF-16 units, is shown as received.
 */
export function renderContent(
  { kind, text, marks }: PageResult,
  { withContents = false, longest = MAX_LAID_OUT } = {},
): { content: string; title?: string } {
  if (text.length > longest) return { content: `<pre><code>${escapeHtml(text)}</code></pre>` };
  const wrong = withContents && marks ? renderWrong(marks) : "";
  if (kind === "json")
    return { content: `${wrong}${renderStructured(text, marks && createFieldLinks(marks))}` };
  const { blocks, form } = readMarkdown(text);
  if (form === "complex") return { content: `${wrong}<pre><code>${escapeHtml(text)}</code></pre>` };
  if (form === "plain" && !marks) return { content: renderPlain(text) };
  const headings: PageHeading[] = [];
  const signs = renderSigns(marks);
  const at = blocks.findIndex((block) => block.kind === "heading" && block.level === 1) + 1;
  const before = renderMarkdown(blocks.slice(0, at), headings, signs);
  const last = headings.at(-1);
  const after = renderMarkdown(blocks.slice(at), headings, signs);
  const content = [before, wrong, withContents ? renderContents(headings, last) : "", after];
  const title = blocks[at - 1];
  return {
    content: content.filter(Boolean).join("\n"),
    ...(title?.kind === "heading" && { title: joinText(title.inlines) }),
  };
}

/** Lists all headings but `title`, under which the table of contents is. */
function renderContents(headings: readonly PageHeading[], title: PageHeading | undefined): string {
  if (headings.length < MIN_CONTENTS) return "";
  const items = headings
    .filter((heading) => heading !== title)
    .map(({ id, level, html }) => `<li class="l${level}"><a href="#${id}" dir="auto">${html}</a></li>`);
  return `<nav aria-labelledby="contents"><h2 id="contents">Contents</h2>\n<ul>\n${items.join("\n")}\n</ul></nav>`;
}

/** Renders the origin of a page, with the SHA-256 of the result if there is one. */
export function renderOrigin(
  { question, requestId, origin, createdAt, completedAt }: ResultOrigin,
  text?: string,
): string {
  const rows: [string, string | undefined][] = [
    ["Question", question && escapeHtml(question)],
    ["Request", requestId && escapeHtml(requestId)],
    ["Origin", origin && escapeHtml(origin)],
    ["Created", renderTime(createdAt)],
    ["Completed", renderTime(completedAt)],
    ["SHA-256", text === undefined ? undefined : createHash("sha256").update(text).digest("hex")],
  ];
  const shown = rows
    .filter(([, html]) => html)
    .map(([name, html]) => `<dt>${name}</dt><dd dir="auto">${html}</dd>`);
  return `<footer><dl>\n${shown.join("\n")}\n</dl></footer>`;
}

function renderTime(text: string | undefined): string | undefined {
  return text && `<time datetime="${escapeHtml(text)}">${escapeHtml(text)}</time>`;
}
