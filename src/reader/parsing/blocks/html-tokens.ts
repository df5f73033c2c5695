import { decodeHTML } from "entities/decode";

/** A tag of an HTML page. */
export type HtmlTag = { kind: "open" | "close"; name: string; attributes: string; line: number };
/** A piece of an HTML page: a tag, or text between tags. */
export type HtmlToken = HtmlTag | { kind: "text"; text: string; line: number };

const TAG = /<(\/?)([a-zA-Z][\w:-]*)/y;
const MARK = /[<>"']/g;
const SILENT = new Set("script style template svg noscript textarea select iframe annotation".split(" "));

/** Matches TeX commands in a formula that escape a character or set a size. */
const TEX = /\\(?=[%$&#_])|\\displaystyle\s*/g;

/**
 * Yields the tags and text of a page in order. Omits comments, declarations and the content of tags for which `isSilent` is
 * true; by default scripts, styles and other content that is never shown as text.
 */
export function* iterateTokens(
  page: string,
  isSilent: (tag: HtmlTag) => boolean = ({ name }) => SILENT.has(name),
): Generator<HtmlToken> {
  let at = 0;
  let line = 1;
  /** The number of characters scanned without finding the end of a tag. If it exceeds the page's length, no further "<" begins a tag. */
  let vain = 0;
  let nextBreak = page.indexOf("\n");
  const countLineAfter = (end: number) => {
    for (; nextBreak >= 0 && nextBreak < end; nextBreak = page.indexOf("\n", nextBreak + 1)) line += 1;
    at = end;
  };
  while (at < page.length) {
    const next = page.indexOf("<", at);
    const end = next < 0 ? page.length : next;
    if (end > at) {
      yield { kind: "text", text: page.slice(at, end), line };
      countLineAfter(end);
      continue;
    }
    const skipped = findCommentOrDeclarationEnd(page, at);
    if (skipped !== undefined) {
      countLineAfter(skipped);
      continue;
    }
    TAG.lastIndex = at;
    const begin = vain > page.length ? null : TAG.exec(page);
    const close = begin === null ? -1 : findTagEnd(page, TAG.lastIndex);
    if (begin === null || close < 0) {
      vain += begin === null ? 0 : ~close - at;
      yield { kind: "text", text: "<", line };
      at += 1;
      continue;
    }
    const name = (begin[2] ?? "").toLowerCase();
    const attributes = page.slice(at + begin[0].length, close - 1);
    const tag: HtmlTag = { kind: begin[1] === "" ? "open" : "close", name, attributes, line };
    yield tag;
    const isOpen = tag.kind === "open" && !attributes.endsWith("/");
    const formula = isOpen && name === "math" ? readAttribute(tag, "alttext").replace(TEX, "") : "";
    if (formula !== "") yield { kind: "text", text: formula, line };
    countLineAfter(close);
    if (isOpen && (isSilent(tag) || formula !== "")) countLineAfter(findElementEnd(page, at, name));
  }
}

/** Returns the first attribute whose name matches the pattern `names` ("content|datetime"); empty if there is none. */
export function readAttribute({ attributes }: HtmlTag, names: string): string {
  const match = new RegExp(`(?:^|\\s)(?:${names})\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
    attributes.slice(0, 2_000),
  );
  return decodeHTML(match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
}

/** Returns the end of the comment, declaration or instruction at `at`; undefined if there is none. */
function findCommentOrDeclarationEnd(page: string, at: number): number | undefined {
  const mark = page[at + 1];
  if (mark !== "!" && mark !== "?") return undefined;
  const closing = page.startsWith("<!--", at) ? "-->" : ">";
  const end = page.indexOf(closing, at + 2);
  return end < 0 ? page.length : end + closing.length;
}

/** Returns the index after the ">" of a tag, outside quotes; for a tag without end, ~ of the index at which the scan stopped. */
function findTagEnd(page: string, from: number): number {
  MARK.lastIndex = from;
  for (let mark = MARK.exec(page); mark !== null; mark = MARK.exec(page)) {
    if (mark[0] === ">") return mark.index + 1;
    if (mark[0] === "<") return ~mark.index;
    const end = page.indexOf(mark[0], mark.index + 1);
    if (end < 0) break;
    MARK.lastIndex = end + 1;
  }
  return ~page.length;
}

function findElementEnd(page: string, from: number, name: string): number {
  const pattern = new RegExp(`</${name}[\\s>]`, "gi");
  pattern.lastIndex = from;
  return pattern.exec(page)?.index ?? page.length;
}
