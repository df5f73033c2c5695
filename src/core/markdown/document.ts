/** Where something stands in the Markdown, in UTF-16 units. */
export interface Place {
  start: number;
  end: number;
}

/** A Markdown document as the terminal, the page and the check of a report read it. All text is as the author wrote it: renderers make it safe. */
export interface MarkdownDocument {
  blocks: MarkdownBlock[];
  /**
   * `plain`: text without markup, or JSON, which is shown line by line as it came. `complex`: it would take too long to
   * read whole, and its blocks are paragraphs alone.
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
  /** Shown line by line as it came; `blocks` are the paragraphs in it. */
  | { kind: "html"; text: string; blocks: MarkdownBlock[] }
  /** `[label]: address`, which shows where it is used. */
  | { kind: "definition"; label: string; address: string }
  /** `[^label]: …`; `mark` is what it shows of its label. */
  | { kind: "note"; label: string; mark: string; inlines: Inline[] };

export interface ListBlock {
  kind: "list";
  /** The first number; undefined for bullets. */
  start: number | undefined;
  /** Whether blank lines separate the items. */
  loose: boolean;
  items: ListItem[];
}

export interface ListItem {
  /** Undefined: not a task. */
  checked: boolean | undefined;
  /** As the author numbered it; undefined for a bullet. */
  number: string | undefined;
  blocks: MarkdownBlock[];
}

export interface TableBlock {
  kind: "table";
  align: readonly ("left" | "right" | "center" | null)[];
  head: Inline[][];
  rows: Inline[][][];
}

/** A piece of a line. A text that is as long as its place stands there as it is; any other stands for the whole of it. */
export type Inline = Place &
  (
    | { kind: "text" | "code"; text: string }
    | { kind: "strong" | "emphasis" | "deleted"; inlines: Inline[] }
    | { kind: "raised" | "lowered"; inlines: Inline[] }
    /** `address`: as the author wrote it, so not always one that may be opened; see `openable`. */
    | { kind: "link"; address: string; isImage: boolean; inlines: Inline[] }
    /** `[^label]`; `text` is what it shows. */
    | { kind: "note"; label: string; text: string }
    /** A tag of HTML, and what stands between two that say more of it than how it looks. */
    | { kind: "tag"; text: string }
    | { kind: "element"; name: string; opening: string; closing: string; inlines: Inline[] }
    | { kind: "break" }
  );

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** The address of a link in printable ASCII, if it is one that may be opened; undefined for any other. */
export function normalizeAddress(address: string): string | undefined {
  // URL() drops line breaks and tabs inside an address, which would make another address of it.
  if (/\p{Cc}/u.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return OPENABLE.has(url.protocol) ? url.href : undefined;
}
