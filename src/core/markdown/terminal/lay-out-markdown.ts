import { parseMarkdown } from "../parse-markdown.js";
import { layOutBlocks, layOutPlainText, NumberedAddresses } from "./lay-out-blocks.js";
import {
  buildStyledLine,
  LOOK,
  prefixLines,
  renderLine,
  type TerminalCapabilities,
  wrapRuns,
} from "./wrap-lines.js";

/** The longest line in columns; longer ones are tiring to read (contract §6). */
const WIDEST = 100;
/** The narrowest line in columns, the width of one wide character. */
const NARROWEST = 2;
/** The largest result that is laid out, in columns, because three characters may become a line of a hundred. */
const MOST_COLUMNS = 8 << 20;

/** Lays out Markdown for a terminal, with the addresses of links at the end. Returns undefined if it is too complex or too large. */
export function layOutMarkdown(
  markdown: string,
  terminal: TerminalCapabilities & { columns: number },
): string | undefined {
  const { blocks, form } = parseMarkdown(markdown);
  if (form === "complex") return undefined;
  const columns = Math.max(NARROWEST, Math.min(WIDEST, terminal.columns));
  const addresses = new NumberedAddresses();
  const lines =
    form === "plain" ? layOutPlainText(markdown, columns) : layOutBlocks(blocks, columns, addresses);
  const list = addresses.list();
  if (list.length > 0) lines.push(buildStyledLine());
  for (const [index, address] of list.entries()) {
    const number = `[${index + 1}] `;
    const indent = columns >= 4 * number.length ? number.length : 0;
    const wrapped = wrapRuns([{ text: address, look: LOOK.faint, href: address }], columns - indent);
    const blank = { text: " ".repeat(indent), look: 0 };
    const first = { text: number, look: LOOK.faint };
    for (const line of indent > 0 ? prefixLines(wrapped, first, blank) : [buildStyledLine(first), ...wrapped])
      lines.push(line);
  }
  if (lines.reduce((sum, line) => sum + line.columns, 0) > MOST_COLUMNS) return undefined;
  return lines.map((line) => `${renderLine(line, terminal)}\n`).join("");
}
