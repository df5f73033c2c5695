import { type HtmlTag, type HtmlToken, iterateTokens, readAttribute } from "./html-tokens.js";

/** Elements whose text is separate from the surrounding text. */
const BLOCKS = new Set(
  (
    "address article aside blockquote caption center dd details dialog div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
  ).split(" "),
);
/** Empty elements, and those of the whole page, that separate the text before and after them. */
const BREAKS = new Set(["br", "hr", "html", "body"]);
const VOID = new Set("area base col embed img input link meta param source track wbr".split(" "));
/** Inline elements whose start and end are reported. */
const MARKED = new Set(["sup", "sub", "b", "strong"]);
const HEADING = /^h[1-6]$/;

const TERMS = { ends: ["dt", "dd"], within: ["dl", "td", "th", "table"] };
const CELLS = { ends: ["td", "th", "caption"], within: ["tr", "table"] };
const ROWS = { ends: ["tbody", "thead", "tfoot", "tr", "caption"], within: ["table"] };
/** By start tag: the open elements that it ends, and the elements at which the search for them stops (HTML, "optional tags"). */
const ENDS: Readonly<Record<string, { ends: readonly string[]; within: readonly string[] }>> = {
  li: { ends: ["li"], within: ["ul", "ol", "td", "th", "table"] },
  ...{ dt: TERMS, dd: TERMS, td: CELLS, th: CELLS, tbody: ROWS, thead: ROWS, tfoot: ROWS },
  tr: { ends: ["tr", "caption"], within: ["table"] },
  caption: { ends: [], within: ["table"] },
  table: { ends: [], within: [] },
};
const CELL = ["td", "th", "caption", "table"];
/** How many open elements are searched. Without this limit, a page without end tags would take quadratic time. */
const MAX_LOOK_UP = 256;

/** Elements and roles that are outside the main text: menus, related pages, footers. */
const AROUND = new Set("nav aside footer button dialog title".split(" "));
const AROUND_ROLES = new Set(
  "navigation complementary contentinfo search dialog alertdialog menu menubar".split(" "),
);
/** Matches the class of an aside that belongs to the text, such as a note. */
const NOTE =
  /(?:^|[\s_-])(?:(?:foot)?notes?|tip|caution|danger|warning|admonition|callout|topic)(?:$|[\s_-])/;
/** Classes and ids, as whole names, of elements that are outside the main text. */
const AROUND_NAMES = new Set(
  (
    "toc table-of-contents nav navbar topnav subnav bottomnav navheader navfooter navigation breadcrumb breadcrumbs " +
    "sidebar sphinxsidebar pagination menu menu-bar tablist s-topbar footer site-footer page-footer printfooter " +
    "catlinks navbox navpath nav-path vector-dropdown vector-sticky-header mw-portlet rst-versions md-consent " +
    "mdbook-help-container skip-link mw-jump-link vpskiplink md-skip screen-reader-text headerlink header-anchor " +
    "hash-link heading-link anchorjs-link mw-editsection"
  ).split(" "),
);
const CONSENT =
  /cookie[\w-]*(?:notice|banner|consent|bar|law|popup|dialog|message)|consent-(?:banner|bar|container|root|sdk)/;
const BADGE = /(?:^|[\s_-]|vp)badges?(?:$|[\s_-])/;
/** Elements that are always shown. */
const CONTENT = new Set(["main", "article"]);
/** Elements that are shown whatever their class or id is, because it often derives from a heading. */
const TEXT = new Set("section h1 h2 h3 h4 h5 h6 p pre code dt dd td th tr tbody".split(" "));
const NAMED_BY_ID = new Set("div ul ol table header form address".split(" "));
const SECTION = /(?:^|\s)(?:sect(?:ion)?\d?|level\d)(?:$|[\s-])/;

/** The start or end of a block or of a marked inline element, a break, or text. */
export type HtmlEvent =
  | (HtmlTag & { kind: "open"; hides: Hiding })
  | { kind: "close" | "break"; name: string; line: number }
  | Extract<HtmlToken, { kind: "text" }>;
/** Whether an element is outside the main text because of its kind, or because of its class or id. */
type Hiding = "kind" | "name" | undefined;

/**
 * Yields the text of a page and the elements that separate it, without navigation and the like. An element that only its
 * class or id hides is kept if it has more than half of the text. Takes linear time.
 */
export function* iterateVisible(page: string): Generator<HtmlEvent> {
  const { sizes, size } = measurePageText(page);
  const open: boolean[] = [];
  let hidden = 0;
  let named = 0;
  for (const event of iterateElements(page)) {
    if (event.kind === "open") {
      const hides = event.hides === "kind" || (event.hides === "name" && 2 * (sizes[named] ?? 0) <= size);
      if (event.hides === "name") named += 1;
      if (hides && hidden === 0 && BLOCKS.has(event.name))
        yield { kind: "break", name: event.name, line: event.line };
      open.push(hides);
      if (hides) hidden += 1;
    }
    if (hidden === 0) yield event;
    if (event.kind === "close" && open.pop()) hidden -= 1;
  }
}

/** Measures the text of a page outside elements that their kind hides, and of each element that its class or id hides, in order. */
export function measurePageText(page: string): { size: number; sizes: number[] } {
  const open: { hides: Hiding; order: number; before: number }[] = [];
  const sizes: number[] = [];
  let size = 0;
  let around = 0;
  for (const event of iterateElements(page)) {
    if (event.kind === "text") size += around > 0 ? 0 : event.text.trim().length;
    else if (event.kind === "open") {
      const { hides } = event;
      open.push({ hides, order: sizes.length, before: size });
      if (hides === "name") sizes.push(0);
      if (hides === "kind") around += 1;
    } else if (event.kind === "close") {
      const { hides, order, before = 0 } = open.pop() ?? {};
      if (hides === "name" && order !== undefined) sizes[order] = size - before;
      if (hides === "kind") around -= 1;
    }
  }
  return { size, sizes };
}

/** Yields elements with balanced starts and ends. Adds missing end tags as the HTML standard requires. */
function* iterateElements(page: string): Generator<HtmlEvent> {
  /** `depth`: for an inline element, how many elements of that name are open. */
  const open: { name: string; depth: number }[] = [];
  let line = 1;
  function* closeFrom(at: number): Generator<HtmlEvent> {
    while (open.length > at) yield { kind: "close", name: open.pop()?.name ?? "", line };
  }
  for (const token of iterateTokens(page)) {
    line = token.line;
    if (token.kind === "text") {
      yield token;
      continue;
    }
    const { name } = token;
    const isBlock = BLOCKS.has(name);
    const at = findOpenElement(name, open);
    const same = isBlock ? undefined : open[at];
    if (same) {
      same.depth += token.kind === "open" ? 1 : -1;
      if (same.depth === 0) yield* closeFrom(at);
    } else if (token.kind === "close") yield* closeFrom(at);
    else if (BREAKS.has(name)) yield { kind: "break", name, line };
    else if (!VOID.has(name)) {
      if (isBlock) yield* closeFrom(findOutermostEnded(name, open));
      const hides = classifyHiding(token, open.at(-1)?.name ?? "");
      if (!isBlock && hides === undefined && !MARKED.has(name)) continue;
      open.push({ name, depth: 1 });
      yield { ...token, kind: "open", hides };
      if (token.attributes.endsWith("/")) yield* closeFrom(open.length - 1);
    }
  }
  yield* closeFrom(0);
}

/** Returns the index in `open` of the element that an end tag closes, or that a start tag nests in; `open.length` if there is none. */
function findOpenElement(name: string, open: readonly { name: string }[]): number {
  const within = ENDS[name]?.within ?? CELL;
  for (let i = open.length - 1; i >= Math.max(0, open.length - MAX_LOOK_UP); i--) {
    const element = open[i]?.name ?? "";
    if (element === name || (HEADING.test(name) && HEADING.test(element))) return i;
    if (BLOCKS.has(name) ? within.includes(element) : BLOCKS.has(element)) break;
  }
  return open.length;
}

/** Returns the index in `open` of the outermost element that a start tag ends; `open.length` if it ends none. */
function findOutermostEnded(name: string, open: readonly { name: string }[]): number {
  const { ends, within } = ENDS[name] ?? { ends: [], within: CELL };
  let place = open.length;
  for (let i = open.length - 1; i >= Math.max(0, open.length - MAX_LOOK_UP); i--) {
    const element = open[i]?.name ?? "";
    const isLine = element === "p" || element === "title" || (HEADING.test(name) && HEADING.test(element));
    if (ends.includes(element) || isLine) place = i;
    if (within.includes(element) || (ends.length === 0 && BLOCKS.has(element))) break;
  }
  return place;
}

function classifyHiding(tag: HtmlTag, parent: string): Hiding {
  const { name, attributes } = tag;
  if (CONTENT.has(name)) return undefined;
  const classes = attributes && readAttribute(tag, "class").toLowerCase();
  if (AROUND.has(name)) return name === "aside" && NOTE.test(classes) ? undefined : "kind";
  if (attributes === "") return undefined;
  if (AROUND_ROLES.has(readAttribute(tag, "role").toLowerCase())) return "kind";
  if (TEXT.has(name)) return undefined;
  const id = NAMED_BY_ID.has(name) && !SECTION.test(classes) ? readAttribute(tag, "id").toLowerCase() : "";
  const isAround = (each: string) => AROUND_NAMES.has(each) || CONSENT.test(each);
  const names = [...classes.split(/\s+/), id];
  return names.some(isAround) || (HEADING.test(parent) && BADGE.test(classes)) ? "name" : undefined;
}
