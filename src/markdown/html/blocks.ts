import type { Block, Inline, ListBlock, TableBlock } from "../document.js";
import { escapeHtml } from "./escape.js";
import { inlineHtml } from "./inlines.js";

export interface Heading {
  /** The fragment that leads to it. */
  id: string;
  level: number;
  html: string;
}

/** Blocks as HTML. Each heading is added to `headings`. */
export function blockHtml(blocks: readonly Block[], headings: Heading[]): string {
  return blocks.map((block) => htmlOf(block, headings)).join("\n");
}

function htmlOf(block: Block, headings: Heading[]): string {
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
