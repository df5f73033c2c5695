import { readMarkdown } from "../parse.js";
import { Addresses, layOutBlocks, layOutPlain } from "./blocks.js";
import { buildLine, LOOK, prefixLines, show, type TerminalCapabilities, wrap } from "./wrap.js";

/** Longer lines are tiring to read (contract §6). */
const WIDEST = 100;
/** The width of one wide character. */
const NARROWEST = 2;
/** The size limit, in columns: a line of three characters may become one of a hundred. A larger result is shown as received. */
const MOST_COLUMNS = 8 << 20;

/** Lays Markdown out for a terminal, with the addresses of its links below it. Undefined if it would be too large. */
export function layOut(
  markdown: string,
  terminal: TerminalCapabilities & { columns: number },
): string | undefined {
  const { blocks, form } = readMarkdown(markdown);
  if (form === "complex") return undefined;
  const columns = Math.max(NARROWEST, Math.min(WIDEST, terminal.columns));
  const addresses = new Addresses();
  const lines = form === "plain" ? layOutPlain(markdown, columns) : layOutBlocks(blocks, columns, addresses);
  const list = addresses.list();
  if (list.length > 0) lines.push(buildLine());
  for (const [index, address] of list.entries()) {
    const number = `[${index + 1}] `;
    const indent = columns >= 4 * number.length ? number.length : 0;
    const wrapped = wrap([{ text: address, look: LOOK.faint, href: address }], columns - indent);
    const blank = { text: " ".repeat(indent), look: 0 };
    const first = { text: number, look: LOOK.faint };
    for (const line of indent > 0 ? prefixLines(wrapped, first, blank) : [buildLine(first), ...wrapped])
      lines.push(line);
  }
  if (lines.reduce((sum, line) => sum + line.columns, 0) > MOST_COLUMNS) return undefined;
  return lines.map((line) => `${show(line, terminal)}\n`).join("");
}
