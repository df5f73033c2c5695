import { createHash } from "node:crypto";
import { shortLine } from "../../text/phrases.js";
import { textOf } from "../inlines.js";
import { readMarkdown } from "../parse.js";
import { escapeHtml, markdownHtml, type PageHeading, plainHtml } from "./blocks.js";
import { fieldLinks, marksSection, type PageMarks, signsOf, wrongSection } from "./marks.js";
import { page } from "./page.js";
import { structuredHtml } from "./structured.js";

/** From this many headings on, a page has a table of contents (contract §6). */
const MIN_CONTENTS = 4;
/** A longer question is cut where it is the title; the footer has all of it. In UTF-16 units. */
const LONGEST_TITLE = 160;
/** Larger results are shown as they came (contract §6). In UTF-16 units. */
const MAX_LAID_OUT = 2 * 1024 * 1024;

export interface PageResult {
  kind: "markdown" | "json";
  /** The result as `output` writes it. Valid JSON for `json`. */
  text: string;
  /** What the SHA-256 is of, if that is not `text`. */
  digestOf?: string;
  /** What was found out about places of it. */
  marks?: PageMarks | undefined;
}

/** Where a result comes from; what is not known is undefined. Times as the service gave them. */
export interface ResultOrigin {
  question?: string | undefined;
  requestId?: string | undefined;
  /** Scheme, host and port of the service. */
  origin?: string | undefined;
  createdAt?: string | undefined;
  completedAt?: string | undefined;
}

/** A result as one page in one file, made to be read, printed and kept. */
export function resultPage(result: PageResult, source: ResultOrigin): string {
  const { question, requestId } = source;
  const laidOut = contentOf(result, { withContents: true });
  const checked = result.marks ? `\n${marksSection(result.marks)}` : "";
  const title = laidOut.title ?? (question && shortLine(question, LONGEST_TITLE));
  const shown = title || (requestId === undefined ? "Result" : `Result of ${requestId}`);
  const header =
    laidOut.title === undefined
      ? `<header><h1 class="question" dir="auto">${escapeHtml(shown)}</h1></header>\n`
      : "";
  return page({
    title: shown,
    body: `${header}<main lang="">\n${laidOut.content}${checked}\n</main>\n${originFooter(source, result.digestOf ?? result.text)}`,
  });
}

/**
 * The HTML of a result, and its own title where it has one. `withContents`: a table of contents stands under that.
 * `longest`: what is longer, in UTF-16 units, is shown as it came.
 */
export function contentOf(
  { kind, text, marks }: PageResult,
  { withContents = false, longest = MAX_LAID_OUT } = {},
): { content: string; title?: string } {
  if (text.length > longest) return { content: `<pre><code>${escapeHtml(text)}</code></pre>` };
  const wrong = withContents && marks ? wrongSection(marks) : "";
  if (kind === "json") return { content: `${wrong}${structuredHtml(text, marks && fieldLinks(marks.all))}` };
  const { blocks, form } = readMarkdown(text);
  if (form === "complex") return { content: `<pre><code>${escapeHtml(text)}</code></pre>` };
  if (form === "plain" && !marks) return { content: plainHtml(text) };
  const headings: PageHeading[] = [];
  const signs = signsOf(marks);
  const at = blocks.findIndex((block) => block.kind === "heading" && block.level === 1) + 1;
  const before = markdownHtml(blocks.slice(0, at), headings, signs);
  const own = headings.at(-1);
  const after = markdownHtml(blocks.slice(at), headings, signs);
  const content = [before, wrong, withContents ? contents(headings, own) : "", after];
  const title = blocks[at - 1];
  return {
    content: content.filter(Boolean).join("\n"),
    ...(title?.kind === "heading" && { title: textOf(title.inlines) }),
  };
}

/** The table of contents names all headings but `title`, under which it stands. */
function contents(headings: readonly PageHeading[], title: PageHeading | undefined): string {
  if (headings.length < MIN_CONTENTS) return "";
  const items = headings
    .filter((heading) => heading !== title)
    .map(({ id, level, html }) => `<li class="l${level}"><a href="#${id}" dir="auto">${html}</a></li>`);
  return `<nav aria-labelledby="contents"><h2 id="contents">Contents</h2>\n<ul>\n${items.join("\n")}\n</ul></nav>`;
}

/** What a page says of where it comes from, with the SHA-256 of the result if there is one. */
export function originFooter(
  { question, requestId, origin, createdAt, completedAt }: ResultOrigin,
  text?: string,
): string {
  const rows: [string, string | undefined][] = [
    ["Question", question && escapeHtml(question)],
    ["Request", requestId && escapeHtml(requestId)],
    ["Origin", origin && escapeHtml(origin)],
    ["Created", time(createdAt)],
    ["Completed", time(completedAt)],
    ["SHA-256", text === undefined ? undefined : createHash("sha256").update(text).digest("hex")],
  ];
  const shown = rows
    .filter(([, html]) => html)
    .map(([name, html]) => `<dt>${name}</dt><dd dir="auto">${html}</dd>`);
  return `<footer><dl>\n${shown.join("\n")}\n</dl></footer>`;
}

function time(text: string | undefined): string | undefined {
  return text && `<time datetime="${escapeHtml(text)}">${escapeHtml(text)}</time>`;
}
