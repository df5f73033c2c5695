import { decodeHTMLStrict } from "entities/decode";
import { type MarkedToken, Parser, Renderer, type Token, type Tokens } from "marked";
import { safeResult } from "../../text/safe-text.js";
import { openable } from "../document.js";
import { noteOf } from "../parse.js";

export interface PageHeading {
  /** The fragment that leads to it. */
  id: string;
  level: number;
  html: string;
}

/** Tokens of Markdown as HTML. Each heading is added to `headings`. */
export function markdownHtml(tokens: MarkedToken[], headings: PageHeading[]): string {
  return new Parser({ renderer: new PageRenderer(headings) }).parse(tokens).trimEnd();
}

/** marked's HTML, in which text, HTML and addresses of a result are shown and do nothing. */
class PageRenderer extends Renderer {
  #inLink = false;

  constructor(private readonly headings: PageHeading[]) {
    super();
  }

  override heading({ depth, tokens }: Tokens.Heading): string {
    const id = `s${this.headings.length + 1}`;
    // Links do not go into the table of contents, which is made of links itself.
    this.headings.push({ id, level: depth, html: this.#withoutLinks(tokens) });
    return `<h${depth} id="${id}" dir="auto">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override paragraph({ tokens }: Tokens.Paragraph): string {
    return `<p dir="auto">${this.parser.parseInline(tokens)}</p>\n`;
  }

  override def(token: Tokens.Def): string {
    const [mark = "", note = []] = noteOf(token) ?? [];
    return (
      mark && `<p dir="auto"><strong>${escapeHtml(mark)}</strong> ${this.parser.parseInline(note)}</p>\n`
    );
  }

  override html(token: Tokens.HTML | Tokens.Tag): string {
    return token.block ? `${plainHtml(token.text.replace(/\n+$/, ""))}\n` : escapeHtml(token.text);
  }

  override code({ text }: Tokens.Code): string {
    return `<pre><code>${escapeHtml(text)}</code></pre>\n`;
  }

  override text(token: Tokens.Text | Tokens.Escape): string {
    if (token.type === "escape") return escapeHtml(token.text);
    return token.tokens ? this.parser.parseInline(token.tokens) : textHtml(decodeHTMLStrict(token.text));
  }

  override codespan({ text }: Tokens.Codespan): string {
    return `<code>${escapeHtml(text)}</code>`;
  }

  override link({ autolink, href, text, tokens }: Tokens.Link): string {
    if (autolink) return this.#linked(href, escapeHtml(text));
    return this.#linked(decodeHTMLStrict(href), this.#withoutLinks(tokens));
  }

  override image({ href, text }: Tokens.Image): string {
    const address = decodeHTMLStrict(href);
    return this.#linked(address, escapeHtml(decodeHTMLStrict(text) || address));
  }

  override list(token: Tokens.List): string {
    const html = super.list(token);
    return token.loose ? html.replace(/^<[^>]*/, '$& class="loose"') : html;
  }

  override listitem({ task, tokens }: Tokens.ListItem): string {
    return `<li dir="auto"${task ? ' class="task"' : ""}>${this.parser.parse(tokens).trimEnd()}</li>\n`;
  }

  override checkbox({ checked }: Tokens.Checkbox): string {
    return `<span class="box">${checked ? "☑" : "☐"}</span> `;
  }

  override table(token: Tokens.Table): string {
    // A keyboard can scroll what it can focus.
    return `<div class="table" tabindex="0">${super.table(token).trimEnd()}</div>\n`;
  }

  override tablecell({ header, align, tokens }: Tokens.TableCell): string {
    const tag = header ? "th" : "td";
    const at = align === null ? "" : ` class="${align}"`;
    return `<${tag}${at} dir="auto">${this.parser.parseInline(tokens)}</${tag}>`;
  }

  /** A link inside a link, which HTML does not have, is its text. */
  #withoutLinks(tokens: Token[]): string {
    const outer = this.#inLink;
    this.#inLink = true;
    const html = this.parser.parseInline(tokens);
    this.#inLink = outer;
    return html;
  }

  /** A link, or its text with the address if that may not be opened: nothing of the result is lost. */
  #linked(address: string, html: string): string {
    if (this.#inLink) return html;
    const href = openable(address);
    if (href !== undefined) return anchor(href, html);
    const shown = escapeHtml(address);
    return shown === "" || shown === html ? html : `${html} (${shown})`;
  }
}

/** Text that is shown line by line as it came. */
export function plainHtml(text: string): string {
  return `<div class="plain" dir="auto">${textHtml(text)}</div>`;
}

/** A link out of the page, which says nothing about the page to where it leads. `href`: from `openable`. */
export function anchor(href: string, html: string): string {
  return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${html}</a>`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A number with spaces inside, or with its currency or unit. The units are those that reports of prices and devices have. */
const AMOUNT =
  /(?:(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF)) )?\d[\d.,]*(?: \d{3}\b)*(?: (?:[%‰€$£¥]|(?:°[CF]|EUR|USD|GBP|CHF|million|billion|[kMGT]?(?:Wh?|B|Hz|V)|[kcmµn]?m[²³]?|[kmµ]?g|[km]?l|t|ha|h|min|m?s)(?![\p{L}\d])))?/gu;

/** Text as HTML for content, in which no line ends inside an amount. */
export function textHtml(text: string): string {
  return escapeHtml(text).replace(AMOUNT, (amount) =>
    amount.includes(" ") ? `<span class="amount">${amount}</span>` : amount,
  );
}

/** Text as HTML that shows it, in content and in quoted attributes. Control characters and bidi marks show as `\u{…}`. */
export function escapeHtml(text: string): string {
  return safeResult(text).replace(/[&<>"']/g, (char) => REFERENCES[char] ?? char);
}
