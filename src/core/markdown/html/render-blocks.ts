import { escapeResult } from "../../text/safe-text.js";
import {
  type Inline,
  type ListBlock,
  type MarkdownBlock,
  normalizeLink,
  type TableBlock,
} from "../document-types.js";

export interface PageHeading {
  /** The fragment by which links refer to the heading. */
  id: string;
  level: number;
  html: string;
}

/** HTML to insert after given places of a document, in order. */
export class Insertions {
  #next = 0;

  constructor(private readonly all: readonly { end: number; html: string }[]) {}

  /** The place of the next sign; Infinity if none is left. */
  get end(): number {
    return this.all[this.#next]?.end ?? Infinity;
  }

  /** Removes the signs at or before `end` and returns their HTML. */
  takeUpTo(end: number): string {
    let html = "";
    for (; this.end <= end; this.#next += 1) html += ` ${this.all[this.#next]?.html}`;
    return html;
  }
}

/** Renders blocks as HTML. HTML and unsafe addresses in a result are shown as text. Adds each heading to `headings`. */
export function renderMarkdown(
  blocks: readonly MarkdownBlock[],
  headings: PageHeading[],
  signs = new Insertions([]),
): string {
  return new BlockWriter(headings, signs).renderBlocks(blocks);
}

const ELEMENTS = { strong: "strong", emphasis: "em", deleted: "del", raised: "sup", lowered: "sub" } as const;

class BlockWriter {
  #inLink = false;

  constructor(
    private readonly headings: PageHeading[],
    private readonly signs: Insertions,
  ) {}

  renderBlocks(blocks: readonly MarkdownBlock[]): string {
    const html = blocks.map((block) => this.#block(block));
    return html.filter(Boolean).join("\n");
  }

  /** Renders a block. `isTight`: it is in a list without blank lines, where a paragraph gets no element. */
  #block(block: MarkdownBlock, isTight = false): string {
    switch (block.kind) {
      case "heading": {
        const id = `s${this.headings.length + 1}`;
        // The entries of the table of contents are links, so they must not contain any.
        this.headings.push({ id, level: block.level, html: this.#renderWithoutLinks(block.inlines) });
        return `<h${block.level} id="${id}" dir="auto">${this.#renderInlines(block.inlines)}</h${block.level}>`;
      }
      case "paragraph":
        return isTight
          ? this.#renderInlines(block.inlines)
          : `<p dir="auto">${this.#renderInlines(block.inlines)}</p>`;
      case "note":
        return `<p dir="auto"><strong>${escapeHtml(block.mark)}</strong> ${this.#renderInlines(block.inlines)}</p>`;
      case "html": {
        const [last] = block.blocks.slice(-1);
        const end = last?.kind === "paragraph" ? last.inlines.at(-1)?.end : undefined;
        return renderPlainText(block.text) + this.signs.takeUpTo(end ?? 0);
      }
      case "code":
        return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
      case "quote":
        return `<blockquote>\n${this.renderBlocks(block.blocks)}\n</blockquote>`;
      case "list":
        return this.#list(block);
      case "table":
        return this.#renderTable(block);
      case "rule":
        return "<hr>";
      case "definition":
        return "";
    }
  }

  #list({ start = -1, loose, items }: ListBlock): string {
    const tag = start < 0 ? "ul" : `ol${start === 1 ? "" : ` start="${start}"`}`;
    const html = items.map(({ checked, blocks }) => {
      const box = checked === undefined ? "" : `<span class="box">${checked ? "☑" : "☐"}</span> `;
      const items = blocks.map((block) => this.#block(block, !loose)).join("\n");
      return `<li dir="auto"${box && ' class="task"'}>${box}${items}</li>\n`;
    });
    return `<${tag}${loose ? ' class="loose"' : ""}>\n${html.join("")}</${tag.slice(0, 2)}>`;
  }

  #renderTable({ align, head, rows }: TableBlock): string {
    const renderRow = (tag: "th" | "td", cells: readonly Inline[][]) => {
      const renderAlign = (i: number) => (align[i] ? ` class="${align[i]}"` : "");
      const html = cells.map(
        (cell, i) => `<${tag}${renderAlign(i)} dir="auto">${this.#renderInlines(cell)}</${tag}>`,
      );
      return `<tr>${html.join("\n")}</tr>\n`;
    };
    const body = rows.map((cells) => renderRow("td", cells)).join("");
    // Make the table focusable, so that people can scroll it with the keyboard.
    return `<div class="table" tabindex="0"><table>\n<thead>${renderRow("th", head)}</thead>\n${body && `<tbody>${body}</tbody>`}</table></div>`;
  }

  /** Renders inlines, and inserts the signs after their places. */
  #renderInlines(inlines: readonly Inline[]): string {
    const html = inlines.map((inline, i) => {
      // Separate two adjacent footnote numbers, which would look like one.
      const gap = inline.kind === "note" && inlines[i - 1]?.kind === "note" ? "&nbsp;" : "";
      return gap + this.#renderInline(inline) + (this.#inLink ? "" : this.signs.takeUpTo(inline.end));
    });
    return html.join("");
  }

  #renderInline(inline: Inline): string {
    switch (inline.kind) {
      case "text":
        return this.#renderText(inline.text, inline.start);
      case "note":
      case "tag":
        return escapeHtml(inline.text);
      case "element":
        return escapeHtml(inline.opening) + this.#renderInlines(inline.inlines) + escapeHtml(inline.closing);
      case "code":
        return `<code>${escapeHtml(inline.text)}</code>`;
      case "break":
        return "<br>";
      case "link":
        return this.#renderLinked(inline.address, this.#renderWithoutLinks(inline.inlines));
      default:
        return `<${ELEMENTS[inline.kind]}>${this.#renderInlines(inline.inlines)}</${ELEMENTS[inline.kind]}>`;
    }
  }

  #renderText(text: string, start: number): string {
    let html = "";
    let from = 0;
    for (let to = this.signs.end - start; !this.#inLink && to < text.length; to = this.signs.end - start) {
      html += escapeHtml(text.slice(from, to)) + this.signs.takeUpTo(start + to);
      from = Math.max(from, to);
    }
    return html + escapeHtml(text.slice(from));
  }

  /** Renders inlines with the text of links only, because HTML does not allow links in a link. */
  #renderWithoutLinks(inlines: readonly Inline[]): string {
    const outer = this.#inLink;
    this.#inLink = true;
    const html = this.#renderInlines(inlines);
    this.#inLink = outer;
    return html;
  }

  /** Renders a link. If the address must not be opened, renders its text and the address, so that nothing is lost. */
  #renderLinked(address: string, html: string): string {
    if (this.#inLink) return html;
    const href = normalizeLink(address);
    if (href !== undefined) return renderExternalLink(href, html);
    const shown = escapeHtml(address);
    return shown === "" || shown === html ? html : `${html} (${shown})`;
  }
}

/** Renders text line by line, as received. */
export function renderPlainText(text: string): string {
  return `<div class="plain" dir="auto">${escapeHtml(text)}</div>`;
}

/** Renders an external link that sends no referrer. `href`: from `normalizeLink`. */
export function renderExternalLink(href: string, html: string): string {
  return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${html}</a>`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML content and quoted attributes. Shows control characters and bidi marks as `\u{…}`. */
export function escapeHtml(text: string): string {
  return escapeResult(text).replace(/[&<>"']/g, (char) => REFERENCES[char] ?? char);
}
