import { decodeHTMLStrict } from "entities/decode";
import type { MarkedToken, Token } from "marked";
import type { Block, Inline } from "./document.js";
import { lex, TooComplex } from "./lexer.js";

/**
 * Reads Markdown. Text without any markup, and JSON, is one `plain` block. Undefined for what cannot be laid out:
 * it would take too long to read.
 */
export function parse(markdown: string): Block[] | undefined {
  const plain: Block[] = [{ kind: "plain", text: markdown }];
  if (isJson(markdown)) return plain;
  try {
    const document = blocks(lex(markdown));
    return document.every(isProse) ? plain : document;
  } catch (error) {
    // RangeError: the stack of a thread may be smaller than the depths here were measured with.
    if (error instanceof TooComplex || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isProse(block: Block): boolean {
  return (
    block.kind === "plain" || (block.kind === "paragraph" && block.inlines.every((i) => i.kind === "text"))
  );
}

function blocks(tokens: readonly Token[] | undefined): Block[] {
  return ((tokens ?? []) as MarkedToken[]).flatMap(block);
}

function block(token: MarkedToken): Block | Block[] {
  switch (token.type) {
    case "heading":
      return { kind: "heading", level: token.depth, inlines: inlines(token.tokens) };
    case "paragraph":
      return { kind: "paragraph", inlines: inlines(token.tokens) };
    case "text":
      if (token.tokens === undefined) return { kind: "plain", text: token.text };
      return { kind: "paragraph", inlines: inlines(token.tokens) };
    case "code":
      return { kind: "code", text: token.text };
    case "blockquote":
      return { kind: "quote", blocks: blocks(token.tokens) };
    case "list": {
      const items = token.items.map(({ checked, tokens }) => ({ checked, blocks: blocks(tokens) }));
      return { kind: "list", start: token.start === "" ? undefined : token.start, loose: token.loose, items };
    }
    case "table": {
      const cells = (row: readonly { tokens: Token[] }[]) => row.map(({ tokens }) => inlines(tokens));
      return { kind: "table", align: token.align, head: cells(token.header), rows: token.rows.map(cells) };
    }
    case "hr":
      return { kind: "rule" };
    case "html":
      return { kind: "plain", text: token.text.replace(/\n+$/, "") };
    // A list item says itself whether it is checked; a definition shows where it is used.
    case "space":
    case "def":
    case "checkbox":
      return [];
    default:
      return { kind: "paragraph", inlines: inlines([token]) };
  }
}

function inlines(tokens: readonly Token[] | undefined): Inline[] {
  const all: Inline[] = [];
  for (const token of (tokens ?? []) as MarkedToken[]) {
    const next = inline(token);
    const last = all.at(-1);
    if (next?.kind === "text" && last?.kind === "text") last.text += next.text;
    else if (next) all.push(next);
  }
  return all;
}

function inline(token: MarkedToken): Inline | undefined {
  switch (token.type) {
    case "strong":
      return { kind: "strong", inlines: inlines(token.tokens) };
    case "em":
      return { kind: "emphasis", inlines: inlines(token.tokens) };
    case "del":
      return { kind: "deleted", inlines: inlines(token.tokens) };
    case "codespan":
      return { kind: "code", text: token.text };
    case "br":
      return { kind: "break" };
    case "link": {
      const { autolink, href, text } = token;
      if (autolink) return { kind: "link", address: href, inlines: [{ kind: "text", text }] };
      return { kind: "link", address: decodeHTMLStrict(href), inlines: inlines(token.tokens) };
    }
    case "image": {
      const address = decodeHTMLStrict(token.href);
      return {
        kind: "link",
        address,
        inlines: [{ kind: "text", text: decodeHTMLStrict(token.text) || address }],
      };
    }
    case "escape":
    case "html":
      return { kind: "text", text: token.text };
    case "text":
      return { kind: "text", text: decodeHTMLStrict(token.text) };
    case "checkbox":
      return undefined;
    default:
      return { kind: "text", text: token.raw };
  }
}
