import { createHash } from "node:crypto";
import { escapeHtml } from "./render-blocks.js";
import STYLE from "./style.css?raw";

/** An element of every page, by which our own pages are recognized. */
export const GENERATOR = '<meta name="generator" content="research">';

export interface HtmlPage {
  title: string;
  /** The content as HTML, which the caller has escaped. */
  body: string;
  /** Whether the page needs more width than a column of text. */
  wide?: boolean;
}

/** Renders a page as one file. The page's policy allows only its own style: no scripts, pictures or requests. */
export function renderPage({ title, body, wide = false }: HtmlPage): string {
  const hash = createHash("sha256").update(STYLE).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const head = [
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer">',
    GENERATOR,
  ];
  return renderHtmlDocument(title, STYLE, head, `<body${wide ? ' class="wide"' : ""}>\n${body}\n</body>`);
}

/** Renders an HTML document. `more`: further elements of the head. `body`: the whole body element. */
export function renderHtmlDocument(
  title: string,
  style: string,
  more: readonly string[],
  body: string,
): string {
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    ...more,
    `<title>${escapeHtml(title.replace(/\s+/g, " ").trim())}</title>`,
    `<style>${style}</style>`,
  ];
  return `<!doctype html>\n<html lang="en">\n<head>\n${head.join("\n")}\n</head>\n${body}\n</html>\n`;
}

/** Returns the class of a state in the page's style. */
export function chooseStateClass(state: string): "done" | "bad" | "idle" | "busy" {
  if (state === "COMPLETED") return "done";
  if (state === "PENDING" || state === "PROCESSING") return "busy";
  return state === "STOPPED" || state === "WAITING" ? "idle" : "bad";
}
