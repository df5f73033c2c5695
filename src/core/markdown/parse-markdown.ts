import { decodeHTMLStrict } from "entities/decode";
import type { MarkedToken, Token, Tokens } from "marked";
import { tryParseExact } from "../json/exact-json.js";
import {
  type HtmlBlock,
  lexInlines,
  lexMarkdown,
  type NoteDefinition,
  TooComplexError,
} from "./bounded-lexer.js";
import type { Inline, MarkdownBlock, MarkdownDocument } from "./document-types.js";
import { buildInlines, formatFootnoteMark } from "./inlines.js";
import { createRangeMapper, listLineEndOffsets } from "./source-ranges.js";

/** Parses Markdown. Takes linear time and memory for any input. */
export function parseMarkdown(markdown: string): MarkdownDocument {
  const reader = new BlockBuilder(markdown);
  try {
    const blocks = reader.readBlocks(lexMarkdown(markdown), 0);
    const isJson = /^\s*[[{]/.test(markdown) && tryParseExact(markdown) !== undefined;
    return { blocks, form: isJson || blocks.every(isProseBlock) ? "plain" : "markup" };
  } catch (error) {
    // Catch RangeError as well, because the stack of a thread may be smaller than the one for which MAX_DEPTH was measured.
    if (!(error instanceof TooComplexError || error instanceof RangeError)) throw error;
    return { blocks: reader.readParagraphs(), form: "complex" };
  }
}

function isProseBlock(block: MarkdownBlock): boolean {
  const isText = block.kind === "paragraph" && block.inlines.every(({ kind }) => kind === "text");
  return isText || block.kind === "html";
}

/** Matches HTML tags that begin or end a paragraph. */
const LINE_TAG = /^<\/?(?:p|div|li|[uo]l|t(?:able|r|head|body)|h[1-6]|details|summary|blockquote)\b/i;

/** Matches the beginning of a listed work on its own line: `[1] `, `¹ `. */
const WORK = /^\s*(?:\\?\[\d{1,4}\\?\](?![(.,;!?)。，；])|[¹²³⁴-⁹][⁰¹²³⁴-⁹]*\s)/;
/** Matches a line that may have listed works below it, such as `Sources:`. Prose may have a line that begins with a mark. */
const WORKS_HEAD = /^[^\d.!?。]{1,60}$/;
/** Matches the beginning of a listed work if an address follows: `**[1]** Title`, `(1) Title`, `[1](https://…) Title`, `【1】`, `1、`. */
const NUMBERED_WORK = /^\s*(?:\*\*|__)?(?:[[(（［【]{1,2}\d{1,3}[\])）］】]|\d{1,3}[、．])(?!.*\)\s*$)/;

/** Builds blocks from marked's tokens, and finds their places by lines. The first block of a container begins on its first line. */
class BlockBuilder {
  readonly #ends: number[];

  constructor(private readonly markdown: string) {
    this.#ends = listLineEndOffsets(markdown);
  }

  /** Builds blocks. `line`: the line of the document in which the first token begins. */
  readBlocks(tokens: readonly Token[], line: number): MarkdownBlock[] {
    let next = line;
    return (tokens as MarkedToken[]).flatMap((token) => {
      const [head = "", ...more] = token.raw.split("\n");
      const isAt = (at: number) => this.markdown.endsWith(head.trim(), this.#ends[at]);
      // marked's tokens lack a line break after a lazy line of a quote.
      const first = !isAt(next) && isAt(next + 1) ? next + 1 : next;
      next = first + more.length;
      return this.#block(token, first);
    });
  }

  /** Splits the document into paragraphs only; headings, lists and tables are read as plain text. */
  readParagraphs(): MarkdownBlock[] {
    const text = this.markdown.replace(/\r\n?/g, "\n");
    return this.#splitParagraphs(buildInlines(lexInlines(text), createRangeMapper(text, this.#ends, 0)));
  }

  #block(token: MarkedToken, line: number): MarkdownBlock | MarkdownBlock[] {
    /** Builds inlines of a text in the token. marked removes the tab of an indented continuation line from it. */
    const read = (tokens: readonly Token[] | undefined, text: string) => {
      const begin = token.raw.indexOf(text);
      return buildInlines(
        tokens,
        createRangeMapper(begin < 0 ? text : token.raw, this.#ends, line),
        Math.max(0, begin),
      );
    };
    switch (token.type) {
      case "heading":
        return { kind: "heading", level: token.depth, inlines: read(token.tokens, token.text) };
      case "paragraph":
      case "text":
        return this.#splitParagraphs(read(token.tokens, token.text));
      case "code":
        return { kind: "code", text: token.text };
      case "blockquote":
        return { kind: "quote", blocks: this.readBlocks(token.tokens, line) };
      case "list": {
        let next = line;
        const items = token.items.map(({ raw, checked, tokens }) => {
          const first = next;
          next += raw.split("\n").length - 1;
          return { checked, number: /^\s*(\d+)/.exec(raw)?.[1], blocks: this.readBlocks(tokens, first) };
        });
        return {
          kind: "list",
          start: token.start === "" ? undefined : token.start,
          loose: token.loose,
          items,
        };
      }
      case "table": {
        const [head = [], ...rows] = this.#readRows(token, line);
        return { kind: "table", align: token.align, head, rows };
      }
      case "hr":
        return { kind: "rule" };
      case "html": {
        const inlines = read((token as HtmlBlock).tokens, token.text);
        return { kind: "html", text: token.text.replace(/\n+$/, ""), blocks: this.#splitParagraphs(inlines) };
      }
      case "def": {
        const { note, tag, href } = token as NoteDefinition;
        if (!note) return { kind: "definition", label: tag, address: decodeHTMLStrict(href) };
        const label = tag.slice(1);
        return {
          kind: "note",
          label,
          mark: formatFootnoteMark(label),
          inlines: read(note.tokens, note.text),
        };
      }
      // Skip the checkbox of a task, because the list item has its state.
      case "space":
      case "checkbox":
        return [];
      default:
        return { kind: "paragraph", inlines: read([token], token.raw) };
    }
  }

  /** Splits inlines into paragraphs: at works that are listed line by line, which Markdown would join, and at tags in HTML. */
  #splitParagraphs(inlines: readonly Inline[]): MarkdownBlock[] {
    let opening = "";
    const isFirst = (inline: Inline, i: number) => {
      const before = inlines[i - 1];
      const isLine = before?.kind === "break" || (before?.kind === "text" && before.text.endsWith("\n"));
      const [line] = /^\s*[^\n]*/.exec(this.markdown.slice(inline.start, inline.start + 300)) ?? [""];
      const isListed = WORK.test(line) && (WORK.test(opening) || WORKS_HEAD.test(opening.trim()));
      const isNumbered = NUMBERED_WORK.test(line) && /https?:/.test(line);
      const isWork = isLine && (isListed || isNumbered || /^\s*\n/.test(line));
      const isOpening = !before || isWork || (inline.kind === "tag" && LINE_TAG.test(inline.text));
      if (isOpening) opening = line;
      return isOpening;
    };
    const begins = inlines.flatMap((inline, i) => (isFirst(inline, i) ? i : []));
    return begins.map((begin, n) => ({ kind: "paragraph", inlines: inlines.slice(begin, begins[n + 1]) }));
  }

  /** Reads the rows of a table, the head first. */
  #readRows({ raw, header, rows }: Tokens.Table, line: number): Inline[][][] {
    const lines = raw.split("\n");
    return [header, ...rows].map((row, i) => {
      const nth = i === 0 ? 0 : i + 1;
      const text = lines[nth] ?? "";
      const places = createRangeMapper(text, this.#ends, line + nth);
      let at = 0;
      return row.map((cell) => {
        const place = text.indexOf(cell.text, at);
        if (place >= 0) at = place + cell.text.length;
        // If marked removed backslashes before bars from the cell, its parts get the place of the row.
        return buildInlines(cell.tokens, place < 0 ? () => places(0, text.length) : places, place);
      });
    });
  }
}
