import { hash } from "node:crypto";
import { renderHtmlDocument } from "../../core/markdown/html/page-template.js";
import { escapeHtml } from "../../core/markdown/html/render-blocks.js";
import RESULT_STYLE from "../../core/markdown/html/style.css?raw";
import OWN_STYLE from "./browser/style.css?raw";
import { hashPageParts, type PageParts } from "./live-updates.js";

/** The style of results, which this page shows, too, and the page's own style. */
const STYLE = `${RESULT_STYLE}${OWN_STYLE}`;
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
  ...["script-src 'self'", "connect-src 'self'", "img-src 'self'"],
  ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join("; ");

/** Headers of all parts of the page: browsers store nothing, and other sites learn nothing about it. */
export const UI_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

export interface UiPage {
  status: number;
  title: string;
  /** The address of the page's own files, relative to the page; ends with a slash. */
  root: string;
  parts: PageParts;
  /** The address of the event stream with changed parts, relative to the page, without a query; undefined for a static page. */
  events?: string;
  /** The query of the page, with the filter that also applies to the events. */
  query?: URLSearchParams;
}

/** Renders a page as an HTTP response. The page is readable without its script. */
export function buildPageResponse(page: UiPage): Response {
  const headers = { ...UI_HEADERS, "Content-Type": "text/html; charset=utf-8" };
  return new Response(renderUiPage(page), { status: page.status, headers });
}

function renderUiPage({ title, root, parts, events, query }: UiPage): string {
  const body = [...parts].map(([id, html]) => `<div id="${id}">\n${html}\n</div>`).join("\n");
  const live = [`<link rel="icon" href="${root}icon.svg">`, `<script src="${root}live.js" defer></script>`];
  const narrowed = query?.size ? escapeHtml(`&${query}`) : "";
  const from =
    events === undefined ? "" : ` data-events="${events}?version=${hashPageParts(parts)}${narrowed}"`;
  const shown = `<body class="wide ui"${from}>\n<p id="lost" role="status" hidden>The service does not answer, so this is not up to date. If it was started again, open its new link from the terminal.</p>\n${body}\n</body>`;
  return renderHtmlDocument(title, STYLE, events === undefined ? [] : live, shown);
}

/** Builds a page with a heading and a sentence. `next`: HTML for the next step. */
export function buildMessagePage(status: number, title: string, sentence: string, next = ""): Response {
  const html = `<main class="message">\n<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(sentence)}</p>${next}\n</main>`;
  return buildPageResponse({ status, title, root: "", parts: new Map([["message", html]]) });
}
