import { createHash } from "node:crypto";
import { shortenLine } from "../../text/format-text.js";
import { getVisibleText } from "../inlines.js";
import { parseMarkdown } from "../parse-markdown.js";
import { renderPage } from "./page-template.js";
import { escapeHtml, type PageHeading, renderMarkdown, renderPlainText } from "./render-blocks.js";
import { renderJson } from "./render-json.js";
import {
  createFieldMarkRenderer,
  renderMarkLinks,
  renderMarkList,
  renderProblemList,
  type VerdictMarks,
} from "./verdict-marks.js";

/** The least number of headings of a page with a table of contents (contract §6). */
const MIN_CONTENTS = 4;
/** The longest title, in UTF-16 units. A longer question is shortened; the footer shows all of it. */
const LONGEST_TITLE = 160;
/** The largest result that is formatted, in UTF-16 units. A larger one is shown as received (contract §6). */
const MAX_LAID_OUT = 2 * 1024 * 1024;

export interface PageResult {
  kind: "markdown" | "json";
  /** The result as `output` writes it; valid JSON for `json`. */
  text: string;
  /** The data whose SHA-256 is shown, if it is not `text`. */
  digestOf?: string;
  /** The findings of a check about places of the result. */
  marks?: VerdictMarks | undefined;
}

/** Where a result comes from; unknown values are undefined. Times are as the service returned them. */
export interface ResultOrigin {
  question?: string | undefined;
  requestId?: string | undefined;
  /** The scheme, host and port of the service. */
  origin?: string | undefined;
  createdAt?: string | undefined;
  completedAt?: string | undefined;
}

/** Renders a result as one file, for reading, printing and keeping. */
export function renderResultPage(result: PageResult, source: ResultOrigin): string {
  const { question, requestId } = source;
  const laidOut = renderResultContent(result, { withContents: true });
  const checked = result.marks ? `\n${renderMarkList(result.marks)}` : "";
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
 * Renders the HTML of a result, and returns its title if it begins with one. `withContents`: adds a table of contents below the
 * title. `longest`: the length in UTF-16 units above which a result is shown as received.
 */
export function renderResultContent(
  { kind, text, marks }: PageResult,
  { withContents = false, longest = MAX_LAID_OUT } = {},
): { content: string; title?: string } {
  if (text.length > longest) return { content: `<pre><code>${escapeHtml(text)}</code></pre>` };
  const wrong = withContents && marks ? renderProblemList(marks) : "";
  if (kind === "json")
    return { content: `${wrong}${renderJson(text, marks && createFieldMarkRenderer(marks))}` };
  const { blocks, form } = parseMarkdown(text);
  if (form === "complex") return { content: `${wrong}<pre><code>${escapeHtml(text)}</code></pre>` };
  if (form === "plain" && !marks) return { content: renderPlainText(text) };
  const headings: PageHeading[] = [];
  const signs = renderMarkLinks(marks);
  const at = blocks.findIndex((block) => block.kind === "heading" && block.level === 1) + 1;
  const before = renderMarkdown(blocks.slice(0, at), headings, signs);
  const last = headings.at(-1);
  const after = renderMarkdown(blocks.slice(at), headings, signs);
  const content = [before, wrong, withContents ? renderTableOfContents(headings, last) : "", after];
  const title = blocks[at - 1];
  return {
    content: content.filter(Boolean).join("\n"),
    ...(title?.kind === "heading" && { title: getVisibleText(title.inlines) }),
  };
}

/** Renders the table of contents with all headings except `title`, below which it is placed. */
function renderTableOfContents(headings: readonly PageHeading[], title: PageHeading | undefined): string {
  if (headings.length < MIN_CONTENTS) return "";
  const items = headings
    .filter((heading) => heading !== title)
    .map(({ id, level, html }) => `<li class="l${level}"><a href="#${id}" dir="auto">${html}</a></li>`);
  return `<nav aria-labelledby="contents"><h2 id="contents">Contents</h2>\n<ul>\n${items.join("\n")}\n</ul></nav>`;
}

/** Renders where a result comes from, with the SHA-256 of `text` if given. */
export function renderOrigin(
  { question, requestId, origin, createdAt, completedAt }: ResultOrigin,
  text?: string,
): string {
  const rows: [string, string | undefined][] = [
    ["Question", question && escapeHtml(question)],
    ["Request", requestId && escapeHtml(requestId)],
    ["Origin", origin && escapeHtml(origin)],
    ["Created", renderTimestamp(createdAt)],
    ["Completed", renderTimestamp(completedAt)],
    ["SHA-256", text === undefined ? undefined : createHash("sha256").update(text).digest("hex")],
  ];
  const shown = rows
    .filter(([, html]) => html)
    .map(([name, html]) => `<dt>${name}</dt><dd dir="auto">${html}</dd>`);
  return `<footer><dl>\n${shown.join("\n")}\n</dl></footer>`;
}

function renderTimestamp(text: string | undefined): string | undefined {
  return text && `<time datetime="${escapeHtml(text)}">${escapeHtml(text)}</time>`;
}
