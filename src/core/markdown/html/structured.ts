import { forEachToken, nestingDepth } from "../../json/exact-json.js";
import { openable } from "../document.js";
import { anchor, escapeHtml, textHtml } from "./blocks.js";

type ObjectTree = Extract<JsonTree, { kind: "object" }>;

/** What nests deeper is shown as JSON: fifty definition lists in each other cannot be read. */
const MAX_DEPTH = 50;
/** A table with more columns than this is read more easily as lists. */
const MAX_COLUMNS = 12;

/** What stands behind the value at a path, as in `companies.0.name`. */
type Behind = (path: string) => string;

/** A structured result (valid JSON) as definition lists and tables. `behind` gives the HTML behind values. */
export function structuredHtml(json: string, behind: Behind = () => ""): string {
  if (nestingDepth(json) > MAX_DEPTH) return `<pre><code>${escapeHtml(json)}</code></pre>`;
  return valueHtml(jsonTree(json), "", behind);
}

function valueHtml(tree: JsonTree, path: string, behind: Behind): string {
  return treeHtml(tree, (name) => (path === "" ? name : `${path}.${name}`), behind) + behind(path);
}

function treeHtml(tree: JsonTree, pathTo: (name: string) => string, behind: Behind): string {
  switch (tree.kind) {
    case "literal":
      return literal(tree.token);
    case "string":
      return stringHtml(tree.text);
    case "object":
      return tree.members.length === 0
        ? literal("{}")
        : `<dl>\n${tree.members.map((one) => member(one, pathTo(one[0]), behind)).join("\n")}\n</dl>`;
    case "array": {
      if (tree.items.length === 0) return literal("[]");
      const columns = columnsOf(tree.items);
      if (columns) return table(columns, tree.items, pathTo, behind);
      return `<ul class="values">\n${tree.items.map((item, i) => `<li>${valueHtml(item, pathTo(`${i}`), behind)}</li>`).join("\n")}\n</ul>`;
    }
  }
}

function member([name, value]: [string, JsonTree], path: string, behind: Behind): string {
  return `<dt dir="auto">${escapeHtml(name)}</dt>\n<dd>${valueHtml(value, path, behind)}</dd>`;
}

function stringHtml(text: string): string {
  const href = openable(text);
  const html = `<span class="text" dir="auto">${textHtml(text)}</span>`;
  return href === undefined ? html : anchor(href, html);
}

function literal(token: string): string {
  return `<span class="literal">${escapeHtml(token)}</span>`;
}

/** The names of like objects: each has at least half of all names, and no name twice. Undefined for anything else. */
function columnsOf(items: readonly JsonTree[]): string[] | undefined {
  const all = new Set<string>();
  for (const item of items) {
    if (item.kind !== "object") return undefined;
    for (const [name] of item.members) all.add(name);
    if (all.size > MAX_COLUMNS) return undefined;
  }
  const alike = (items as readonly ObjectTree[]).every(({ members }) => {
    const own = new Set(members.map(([name]) => name));
    return own.size === members.length && own.size * 2 >= all.size && own.size > 0;
  });
  return alike ? [...all] : undefined;
}

function table(
  columns: readonly string[],
  items: readonly JsonTree[],
  pathTo: (name: string) => string,
  behind: Behind,
): string {
  const rows = items.map((item) => new Map(item.kind === "object" ? item.members : []));
  const atEnd = (name: string) => rows.every((row) => !row.has(name) || isNumber(row.get(name)));
  const head = columns.map((name) => cell("th", escapeHtml(name), atEnd(name)));
  const body = rows.map((row, i) => {
    const cells = columns.map((name) => {
      const value = row.get(name);
      return cell("td", value ? valueHtml(value, `${pathTo(`${i}`)}.${name}`, behind) : "", isNumber(value));
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="table" tabindex="0"><table>\n<thead><tr>${head.join("")}</tr></thead>\n<tbody>${body.join("\n")}</tbody>\n</table></div>`;
}

function cell(tag: "th" | "td", html: string, atEnd: boolean): string {
  return `<${tag}${atEnd ? ' class="right"' : ""} dir="auto">${html}</${tag}>`;
}

function isNumber(tree: JsonTree | undefined): boolean {
  return tree?.kind === "literal" && /^[-\d]/.test(tree.token);
}

/** JSON as it was written: numbers digit by digit, members in their order, a name as often as it stands there. */
export type JsonTree =
  | { kind: "object"; members: [name: string, value: JsonTree][] }
  | { kind: "array"; items: JsonTree[] }
  | { kind: "string"; text: string }
  /** A number, `true`, `false` or `null`, as its token. */
  | { kind: "literal"; token: string };

/** Reads a JSON text, which must be valid, in as much stack as it nests. */
export function jsonTree(text: string): JsonTree {
  const tokens: string[] = [];
  forEachToken(text, (start, end) => tokens.push(text.slice(start, end)));
  let at = 0;
  const next = () => tokens[at++] ?? "null";
  const eachUntil = (end: string, read: () => void) => {
    while (tokens[at] !== end) {
      if (tokens[at] === ",") at++;
      read();
    }
    at++;
  };
  const value = (): JsonTree => {
    const token = next();
    if (token === "[") {
      const items: JsonTree[] = [];
      eachUntil("]", () => items.push(value()));
      return { kind: "array", items };
    }
    if (token === "{") {
      const members: [string, JsonTree][] = [];
      eachUntil("}", () => {
        const name = String(JSON.parse(next()));
        at++;
        members.push([name, value()]);
      });
      return { kind: "object", members };
    }
    return token.startsWith('"') ? { kind: "string", text: JSON.parse(token) } : { kind: "literal", token };
  };
  return value();
}
