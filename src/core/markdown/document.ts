/** A place in the Markdown, in UTF-16 units. */
export interface Place {
  start: number;
  end: number;
}

/** A Markdown document for the terminal, the page and the check of a report. All text is as written: renderers must make it safe. */
export interface MarkdownDocument {
  blocks: MarkdownBlock[];
  /**
   * `plain`: text without markup, or JSON, shown line by line as received. `complex`: parsing would take too long, so the
   * blocks are only paragraphs.
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
  /** Shown line by line as received; `blocks` are the paragraphs in it. */
  | { kind: "html"; text: string; blocks: MarkdownBlock[] }
  /** `[label]: address`, which renderers leave out; the links that use it have its address. */
  | { kind: "definition"; label: string; address: string }
  /** `[^label]: …`; `mark` is the displayed form of its label. */
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
  /** Undefined if the item is not a task. */
  checked: boolean | undefined;
  /** The number as written; undefined for a bullet. */
  number: string | undefined;
  blocks: MarkdownBlock[];
}

export interface TableBlock {
  kind: "table";
  align: readonly ("left" | "right" | "center" | null)[];
  head: Inline[][];
  rows: Inline[][][];
}

/** A part of a line. A text of the same length as its place is verbatim; any other text replaces its whole place. */
export type Inline = Place &
  (
    | { kind: "text" | "code"; text: string }
    | { kind: "strong" | "emphasis" | "deleted"; inlines: Inline[] }
    | { kind: "raised" | "lowered"; inlines: Inline[] }
    /** `address`: as written, so it may be unsafe to open; see `normalizeAddress`. */
    | { kind: "link"; address: string; isImage: boolean; inlines: Inline[] }
    /** `[^label]`; `text` is its displayed form. */
    | { kind: "note"; label: string; text: string }
    /** An HTML tag, or an element whose tags mean more than a style. */
    | { kind: "tag"; text: string }
    | { kind: "element"; name: string; opening: string; closing: string; inlines: Inline[] }
    | { kind: "break" }
  );

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** Returns a link's address in printable ASCII if it may be opened; undefined otherwise. */
export function normalizeAddress(address: string): string | undefined {
  // URL() removes line breaks and tabs inside an address, which would make it another address.
  if (/\p{Cc}/u.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return OPENABLE.has(url.protocol) ? url.href : undefined;
}
