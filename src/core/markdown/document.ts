/** A Markdown document as both renderers read it. All text is as the author wrote it: renderers make it safe. */
export type MarkdownBlock =
  | { kind: "heading"; level: number; inlines: Inline[] }
  | { kind: "paragraph"; inlines: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: MarkdownBlock[] }
  | ListBlock
  | TableBlock
  | { kind: "rule" }
  /** Text that is shown line by line as it came: HTML, and what is not Markdown. */
  | { kind: "plain"; text: string };

export interface ListBlock {
  kind: "list";
  /** The first number; undefined for bullets. */
  start: number | undefined;
  /** Whether blank lines separate the items. */
  loose: boolean;
  items: { /** Undefined: not a task. */ checked: boolean | undefined; blocks: MarkdownBlock[] }[];
}

export interface TableBlock {
  kind: "table";
  align: readonly ("left" | "right" | "center" | null)[];
  head: Inline[][];
  rows: Inline[][][];
}

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "emphasis" | "deleted"; inlines: Inline[] }
  /** `address`: as the author wrote it, so not always one that may be opened; see `openable`. */
  | { kind: "link"; address: string; inlines: Inline[] }
  | { kind: "break" };

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** The address of a link in printable ASCII, if it is one that may be opened; undefined for any other. */
export function openable(address: string): string | undefined {
  // URL() drops line breaks and tabs inside an address, which would make another address of it.
  if (/[\s\p{Cc}]/u.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return OPENABLE.has(url.protocol) ? url.href : undefined;
}
