/** A range of the Markdown source, in UTF-16 units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** A parsed Markdown document, for the terminal, pages and checks. Texts are unchanged, so renderers must make them safe. */
export interface MarkdownDocument {
  blocks: MarkdownBlock[];
  /**
   * `plain`: text without markup, or JSON, which is shown line by line as received. `complex`: parsing would take too long, so
   * the blocks are only paragraphs.
   */
  form: "markup" | "plain" | "complex";
}

export type MarkdownBlock =
  | { kind: "heading"; level: number; inlines: Inline[] }
  | { kind: "paragraph"; inlines: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: MarkdownBlock[] }
  | ListBlock
  | TableBlock
  | { kind: "rule" }
  /** HTML, which is shown line by line as received. `blocks` are the paragraphs in it. */
  | { kind: "html"; text: string; blocks: MarkdownBlock[] }
  /** The definition `[label]: address`. Renderers omit it, because the links that use it contain its address. */
  | { kind: "definition"; label: string; address: string }
  /** The definition of a footnote, `[^label]: …`. `mark` is how the label is displayed. */
  | { kind: "note"; label: string; mark: string; inlines: Inline[] };

export interface ListBlock {
  kind: "list";
  /** The first number; undefined for a bullet list. */
  start: number | undefined;
  /** Whether blank lines separate the items. */
  loose: boolean;
  items: ListItem[];
}

export interface ListItem {
  /** Whether the task is done; undefined if the item is not a task. */
  checked: boolean | undefined;
  /** The number of the item, as written; undefined in a bullet list. */
  number: string | undefined;
  blocks: MarkdownBlock[];
}

export interface TableBlock {
  kind: "table";
  align: readonly ("left" | "right" | "center" | null)[];
  head: Inline[][];
  rows: Inline[][][];
}

/** A part of a line. A text as long as its place is verbatim; any other text stands for the whole place. */
export type Inline = Span &
  (
    | { kind: "text" | "code"; text: string }
    | { kind: "strong" | "emphasis" | "deleted"; inlines: Inline[] }
    | { kind: "raised" | "lowered"; inlines: Inline[] }
    /** `address`: as written, so it may be unsafe to open (see `normalizeLink`). */
    | { kind: "link"; address: string; isImage: boolean; inlines: Inline[] }
    /** A reference to a footnote, `[^label]`. `text` is how it is displayed. */
    | { kind: "note"; label: string; text: string }
    /** An HTML tag; or an element whose tags mean more than a style. */
    | { kind: "tag"; text: string }
    | { kind: "element"; name: string; opening: string; closing: string; inlines: Inline[] }
    | { kind: "break" }
  );

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** Returns the address of a link in printable ASCII; undefined if it must not be opened. */
export function normalizeLink(address: string): string | undefined {
  // URL() removes line breaks and tabs from an address, and would thus open another one.
  if (/\p{Cc}/u.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return OPENABLE.has(url.protocol) ? url.href : undefined;
}
