import { openable } from "../address.js";
import type { Inline } from "../document.js";
import { escapeHtml } from "./escape.js";

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
