import { safeResult } from "../../text/safe-text.js";
import { type Inline, type ListBlock, type MarkdownBlock, openable, type TableBlock } from "../document.js";

export interface Heading {
  /** The fragment that leads to it. */
  id: string;
  level: number;
  html: string;
}

/** Blocks as HTML. Each heading is added to `headings`. */
export function blockHtml(blocks: readonly MarkdownBlock[], headings: Heading[]): string {
  return blocks.map((block) => htmlOf(block, headings)).join("\n");
}

function htmlOf(block: MarkdownBlock, headings: Heading[]): string {
  switch (block.kind) {
    case "heading": {
      const id = `s${headings.length + 1}`;
      const { level } = block;
      // Links do not go into the table of contents, which is made of links itself.
      headings.push({ id, level, html: inlineHtml(block.inlines, true) });
      return `<h${level} id="${id}" dir="auto">${inlineHtml(block.inlines)}</h${level}>`;
    }
    case "paragraph":
      return `<p dir="auto">${inlineHtml(block.inlines)}</p>`;
    case "plain":
      return `<div class="plain" dir="auto">${escapeHtml(block.text)}</div>`;
    case "code":
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case "quote":
      return `<blockquote>${blockHtml(block.blocks, headings)}</blockquote>`;
    case "list":
      return list(block, headings);
    case "table":
      return table(block);
    case "rule":
      return "<hr>";
  }
}

function list({ start, loose, items }: ListBlock, headings: Heading[]): string {
  const rows = items.map(({ checked, blocks }) => {
    const box = checked === undefined ? "" : `<span class="box">${checked ? "☑" : "☐"}</span> `;
    const [first] = blocks;
    // In a tight list the first line stands beside its mark without the distance of a paragraph.
    const html =
      !loose && first?.kind === "paragraph"
        ? [inlineHtml(first.inlines), blockHtml(blocks.slice(1), headings)].filter(Boolean).join("\n")
        : blockHtml(blocks, headings);
    return `<li dir="auto"${checked === undefined ? "" : ' class="task"'}>${box}${html}</li>`;
  });
  const tag = start === undefined ? "ul" : "ol";
  const from = start === undefined || start === 1 ? "" : ` start="${start}"`;
  return `<${tag}${from}${loose ? ' class="loose"' : ""}>\n${rows.join("\n")}\n</${tag}>`;
}

function table({ align, head, rows }: TableBlock): string {
  const row = (cells: readonly Inline[][], tag: "th" | "td") => {
    const html = cells.map((cell, i) => {
      const at = align[i] ?? null;
      return `<${tag}${at === null ? "" : ` class="${at}"`} dir="auto">${inlineHtml(cell)}</${tag}>`;
    });
    return `<tr>${html.join("")}</tr>`;
  };
  const body = rows.map((cells) => row(cells, "td")).join("\n");
  // A keyboard can scroll what it can focus.
  return `<div class="table" tabindex="0"><table>\n<thead>${row(head, "th")}</thead>\n<tbody>${body}</tbody>\n</table></div>`;
}

const TAGS = { strong: "strong", emphasis: "em", deleted: "del" } as const;

/** Inlines as HTML. A link that may not be opened is text; so is a link inside a link, which HTML does not have. */
export function inlineHtml(inlines: readonly Inline[], inLink = false): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case "text":
          return escapeHtml(inline.text);
        case "code":
          return `<code>${escapeHtml(inline.text)}</code>`;
        case "break":
          return "<br>";
        case "link": {
          const href = openable(inline.address);
          const html = inlineHtml(inline.inlines, true);
          if (inLink) return html;
          return href === undefined ? `${html}${beside(inline.address, html)}` : anchor(href, html);
        }
        default:
          return `<${TAGS[inline.kind]}>${inlineHtml(inline.inlines, inLink)}</${TAGS[inline.kind]}>`;
      }
    })
    .join("");
}

/** A link out of the page, which says nothing about the page to where it leads. `href`: from `openable`. */
export function anchor(href: string, html: string): string {
  return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${html}</a>`;
}

/** The address that is not opened, so that nothing of the result is lost. */
function beside(address: string, html: string): string {
  const shown = escapeHtml(address);
  return shown === "" || shown === html ? "" : ` (${shown})`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML that shows it, in content and in quoted attributes. Control characters and bidi marks show as `\u{…}`. */
export function escapeHtml(text: string): string {
  return safeResult(text).replace(/[&<>"']/g, (char) => REFERENCES[char] ?? char);
}
