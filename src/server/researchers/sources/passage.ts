/** A stretch of a file that belongs together: a paragraph, a list item, a table, a block of code. */
export interface Passage {
  /** Path below the sources folder, with forward slashes. */
  file: string;
  /** Number of its first line, from 1. */
  line: number;
  /** As they are in the file. */
  lines: string[];
  /** The headings above it, outermost first. */
  heading: string;
  kind: "prose" | "table" | "code";
}

/** Longer blocks are cut, so that a passage stays about one thing. */
const MAX_LINES = 20;
/** Lines longer than this are data or minified code; nobody would want them quoted. */
const MAX_LINE = 4_000;

const MARKDOWN = /\.(?:md|markdown|mdx)$/i;
const HTML = /\.(?:html?|xhtml)$/i;
const TEXT = /\.(?:txt|text|rst|adoc|org|tex)$|(?:^|\/)[A-Z]+$/;

/** Cuts the text of a file into passages. */
export function passagesOf(file: string, text: string): Passage[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (MARKDOWN.test(file) || TEXT.test(file)) return proseOf(file, lines);
  if (HTML.test(file)) return proseOf(file, withoutScripts(text).split(/\r\n|\n|\r/));
  return blocks(file, lines, "code");
}

/** Blanks what an HTML page does not show, and lines of nothing but tags; every line stays where it was. */
function withoutScripts(text: string): string {
  const blank = (found: string) => found.replace(/[^\r\n]+/g, "");
  return text
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>|<!--[\s\S]*?-->/gi, blank)
    .replace(/^[ \t]*(?:<[^<>\r\n]*>[ \t]*)+$/gm, "");
}

function proseOf(file: string, lines: readonly string[]): Passage[] {
  const found: Passage[] = [];
  const headings: string[] = [];
  let block: Passage | undefined;
  let fence: string | undefined;
  const close = () => {
    if (block !== undefined) found.push(block);
    block = undefined;
  };
  lines.forEach((text, index) => {
    const kind = kindOf(text, fence);
    const heading = fence === undefined ? /^(#{1,6})\s+(.*)/.exec(text) : null;
    if (heading) {
      close();
      headings.length = (heading[1] ?? "").length - 1;
      headings.push(heading[2] ?? "");
      return;
    }
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1];
    if (mark !== undefined && (fence === undefined || text.trim().startsWith(fence))) {
      close();
      fence = fence === undefined ? mark : undefined;
      return;
    }
    if (text.trim() === "" || text.length > MAX_LINE) {
      close();
      return;
    }
    if (block && (block.kind !== kind || startsItem(text, kind) || block.lines.length >= MAX_LINES)) close();
    block ??= { file, line: index + 1, lines: [], heading: headings.filter(Boolean).join(" / "), kind };
    block.lines.push(text);
  });
  close();
  return found;
}

function kindOf(text: string, fence: string | undefined): Passage["kind"] {
  if (fence !== undefined) return "code";
  return /^\s*\|/.test(text) ? "table" : "prose";
}

function startsItem(text: string, kind: Passage["kind"]): boolean {
  return kind === "prose" && /^\s*(?:[-*+]|\d+[.)])\s/.test(text);
}

function blocks(file: string, lines: readonly string[], kind: Passage["kind"]): Passage[] {
  const found: Passage[] = [];
  let open = false;
  lines.forEach((text, index) => {
    const last = found.at(-1);
    if (text.trim() === "" || text.length > MAX_LINE) open = false;
    else if (open && last && last.lines.length < MAX_LINES) last.lines.push(text);
    else {
      found.push({ file, line: index + 1, lines: [text], heading: "", kind });
      open = true;
    }
  });
  return found;
}
