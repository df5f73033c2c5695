import { decodeHTML } from "entities/decode";
import { type HtmlTag, iterateTokens, readAttribute } from "../blocks/html-tokens.js";
import { listHeadingStyles, readDocxParts } from "./docx.js";

/** A paragraph, cell or link while it is being read. */
interface Piece {
  text: string;
  isRaised: boolean;
}

/**
 * Converts a Word document to Markdown: headings, numbered lists, tables, links, superscripts and footnotes.
 * `unread`: "text boxes" if these were left out, "columns" if columns were read as one text. Throws like readDocxParts.
 */
export function convertDocxToMarkdown(bytes: Uint8Array): { markdown: string; unread: readonly string[] } {
  const parts = readDocxParts(bytes, [
    "document",
    "styles",
    "numbering",
    "footnotes",
    "endnotes",
    "_rels/document",
  ]);
  const writer = new MarkdownWriter(
    listHeadingStyles(parts.get("styles") ?? ""),
    listAddresses(parts.get("_rels/document") ?? ""),
    new Numbering(parts.get("numbering") ?? ""),
  );
  for (const name of ["document", "footnotes", "endnotes"]) writer.write(parts.get(name) ?? "");
  return { markdown: writer.lines.join("\n\n"), unread: [...writer.unread] };
}

/** Returns the targets of external links by relationship id. */
function listAddresses(xml: string): Map<string, string> {
  const addresses = new Map<string, string>();
  for (const token of iterateTokens(xml))
    if (token.kind === "open" && readAttribute(token, "TargetMode") === "External")
      addresses.set(readAttribute(token, "Id"), readAttribute(token, "Target"));
  return addresses;
}

/** Determines which lists are numbered, and counts their items. */
class Numbering {
  readonly #formats = new Map<string, string>();
  readonly #abstract = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(xml: string) {
    let id = "";
    let level = "";
    for (const token of iterateTokens(xml)) {
      if (token.kind !== "open") continue;
      const value = readAttribute(token, "w:val");
      if (token.name === "w:abstractnum") id = readAttribute(token, "w:abstractNumId");
      else if (token.name === "w:lvl") level = readAttribute(token, "w:ilvl");
      else if (token.name === "w:numfmt") this.#formats.set(`${id} ${level}`, value);
      else if (token.name === "w:num") id = readAttribute(token, "w:numId");
      else if (token.name === "w:abstractnumid") this.#abstract.set(id, value);
    }
  }

  /** Returns the marker of the next item of a list. */
  countNext(list: string, level: string): string {
    const key = `${list} ${level}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    const format = this.#formats.get(`${this.#abstract.get(list)} ${level}`) ?? "bullet";
    return format === "bullet" || format === "none" ? "- " : `${count}. `;
  }
}

class MarkdownWriter {
  readonly lines: string[] = [];
  readonly unread = new Set<string>();
  /** The open tables. Paragraphs in a cell are added to the cell, and cells to the row. */
  readonly #cells: { rows: string[][]; cell: Piece }[] = [];
  #piece: Piece = { text: "", isRaised: false };
  #prefix = "";
  #list = { id: "", level: "0" };
  #links: { address: string; begin: number }[] = [];
  #isText = false;
  #field = "";
  #isField = false;
  #boxes = 0;
  #note = "";

  constructor(
    private readonly headings: ReadonlyMap<string, string>,
    private readonly addresses: ReadonlyMap<string, string>,
    private readonly numbering: Numbering,
  ) {}

  write(xml: string): void {
    for (const token of iterateTokens(xml)) {
      if (token.kind === "text") {
        if (this.#boxes > 0) continue;
        if (this.#isText) this.#append(escapeText(decodeHTML(token.text)));
        else if (this.#isField) this.#field += decodeHTML(token.text);
      } else if (token.name === "w:txbxcontent") {
        this.#boxes += token.kind === "open" ? 1 : -1;
        this.unread.add("text boxes");
      } else if (this.#boxes > 0) continue;
      else if (token.kind === "open") this.#open(token);
      else this.#close(token.name);
    }
  }

  #append(text: string): void {
    const { isRaised } = this.#piece;
    this.#piece.text += isRaised && text.trim() !== "" ? `<sup>${text}</sup>` : text;
  }

  #open(tag: HtmlTag): void {
    const { name } = tag;
    const value = readAttribute(tag, "w:val");
    const isFull = !tag.attributes.endsWith("/");
    if (name === "w:t") this.#isText = isFull;
    else if (name === "w:instrtext") this.#isField = isFull;
    else if (name === "w:tab") this.#append(" ");
    else if (name === "w:br" || name === "w:cr") this.#append(this.#cells.length > 0 ? "<br>" : "  \n");
    else if (name === "w:vertalign") this.#piece.isRaised = value === "superscript";
    else if (name === "w:pstyle") {
      const rank = this.headings.get(value);
      if (rank !== undefined) this.#prefix = `${"#".repeat(Number(rank))} `;
    } else if (name === "w:ilvl") this.#list.level = value;
    else if (name === "w:numid") this.#list.id = value;
    else if (name === "w:numpr") this.#list = { id: "", level: "0" };
    else if (name === "w:hyperlink") this.#addLink(this.addresses.get(readAttribute(tag, "r:id")) ?? "");
    else if (name === "w:fldchar") this.#readFieldChar(readAttribute(tag, "w:fldCharType"));
    else if (name === "w:footnotereference" || name === "w:endnotereference")
      this.#piece.text += `[^${name.slice(2, 3)}${readAttribute(tag, "w:id")}]`;
    else if ((name === "w:footnote" || name === "w:endnote") && !readAttribute(tag, "w:type"))
      this.#note = `[^${name.slice(2, 3)}${readAttribute(tag, "w:id")}]: `;
    else if (name === "w:cols" && Number(readAttribute(tag, "w:num")) > 1) this.unread.add("columns");
    else if (name === "w:tbl") this.#cells.push({ rows: [], cell: this.#piece });
    else if (name === "w:tr") this.#cells.at(-1)?.rows.push([]);
    else if (name === "w:tc") this.#piece = { text: "", isRaised: false };
  }

  #close(name: string): void {
    if (name === "w:t") this.#isText = false;
    else if (name === "w:instrtext") this.#isField = false;
    else if (name === "w:r") this.#piece.isRaised = false;
    else if (name === "w:hyperlink") this.#endLink();
    else if (name === "w:numpr" && this.#prefix === "" && this.#list.id !== "") {
      const indent = "    ".repeat(Math.min(Number(this.#list.level) || 0, 8));
      this.#prefix = indent + this.numbering.countNext(this.#list.id, this.#list.level);
    } else if (name === "w:p") this.#endParagraph();
    else if (name === "w:tc")
      this.#cells
        .at(-1)
        ?.rows.at(-1)
        ?.push(this.#piece.text.replace(/(?:<br>)+$/, ""));
    else if (name === "w:tbl") {
      const { rows = [], cell = this.#piece } = this.#cells.pop() ?? {};
      this.#piece = cell;
      const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("\n", " ")).join(" | ")} |`);
      const table = [
        lines[0] ?? "",
        `|${"---|".repeat(Math.max(1, rows[0]?.length ?? 1))}`,
        ...lines.slice(1),
      ];
      // A table inside a cell becomes text of that cell.
      if (this.#cells.length > 0) this.#piece.text += rows.flat().join(" ");
      else this.lines.push(table.join("\n"));
    }
  }

  #endParagraph(): void {
    while (this.#links.length > 0) this.#endLink();
    const { text } = this.#piece;
    const plain = this.#prefix === "" ? text.replace(/^\s*(\d{1,9})([.)])/, "$1\\$2") : text;
    if (this.#cells.length > 0) this.#piece.text += text.trim() === "" ? "" : "<br>";
    else {
      if (plain.trim() !== "") this.lines.push(this.#note + this.#prefix + plain.trim());
      if (plain.trim() !== "") this.#note = "";
      this.#piece = { text: "", isRaised: false };
    }
    this.#prefix = "";
  }

  #addLink(address: string): void {
    this.#links.push({ address, begin: this.#piece.text.length });
  }

  #endLink(): void {
    const { address = "", begin = 0 } = this.#links.pop() ?? {};
    const { text } = this.#piece;
    if (address === "" || begin >= text.length) return;
    this.#piece.text = `${text.slice(0, begin)}[${text.slice(begin)}](<${address.replace(/[<>\s]/g, encodeURIComponent)}>)`;
  }

  /** Handles a link that is a field, whose instruction contains the address: `HYPERLINK "https://…"`. */
  #readFieldChar(type: string): void {
    if (type === "begin") this.#field = "";
    else if (type === "separate") this.#addLink(/^\s*HYPERLINK\s+"([^"]+)"/.exec(this.#field)?.[1] ?? "");
    else if (type === "end") this.#endLink();
  }
}

/** Escapes a text so that Markdown renders it unchanged. */
function escapeText(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~]/g, "\\$&");
}
