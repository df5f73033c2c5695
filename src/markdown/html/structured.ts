import { nestingDepth } from "../../json/format.js";
import { openable } from "../address.js";
import { escapeHtml } from "./escape.js";
import { anchor } from "./inlines.js";
import { type JsonTree, jsonTree } from "./json-tree.js";

type ObjectTree = Extract<JsonTree, { kind: "object" }>;

/** What nests deeper is shown as JSON: fifty definition lists in each other cannot be read. */
const MAX_DEPTH = 50;
/** A table with more columns than this is read more easily as lists. */
const MAX_COLUMNS = 12;

/** A structured result as HTML: objects as definition lists, arrays of like objects as tables. `json` must be valid. */
export function structuredHtml(json: string): string {
  if (nestingDepth(json) > MAX_DEPTH) return `<pre><code>${escapeHtml(json)}</code></pre>`;
  return valueHtml(jsonTree(json));
}

function valueHtml(tree: JsonTree): string {
  switch (tree.kind) {
    case "literal":
      return `<span class="literal">${escapeHtml(tree.token)}</span>`;
    case "string":
      return stringHtml(tree.text);
    case "object":
      return tree.members.length === 0 ? empty("{}") : `<dl>\n${tree.members.map(member).join("\n")}\n</dl>`;
    case "array": {
      if (tree.items.length === 0) return empty("[]");
      const columns = columnsOf(tree.items);
      if (columns) return table(columns, tree.items);
      return `<ul class="values">\n${tree.items.map((item) => `<li>${valueHtml(item)}</li>`).join("\n")}\n</ul>`;
    }
  }
}

function member([name, value]: [string, JsonTree]): string {
  return `<dt dir="auto">${escapeHtml(name)}</dt>\n<dd>${valueHtml(value)}</dd>`;
}

function stringHtml(text: string): string {
  const href = openable(text);
  const html = `<span class="text" dir="auto">${escapeHtml(text)}</span>`;
  return href === undefined ? html : anchor(href, html);
}

function empty(token: string): string {
  return `<span class="literal">${token}</span>`;
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

function table(columns: readonly string[], items: readonly JsonTree[]): string {
  const rows = items.map((item) => new Map(item.kind === "object" ? item.members : []));
  const atEnd = (name: string) => rows.every((row) => !row.has(name) || isNumber(row.get(name)));
  const head = columns.map((name) => cell("th", escapeHtml(name), atEnd(name)));
  const body = rows.map((row) => {
    const cells = columns.map((name) => {
      const value = row.get(name);
      return cell("td", value ? valueHtml(value) : "", isNumber(value));
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
