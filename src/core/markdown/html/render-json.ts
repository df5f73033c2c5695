import { measureJsonNesting, visitJsonTokens } from "../../json/exact-json.js";
import { normalizeLink } from "../document-types.js";
import { escapeHtml, renderExternalLink } from "./render-blocks.js";

type ObjectTree = Extract<JsonTree, { kind: "object" }>;

/** The deepest nesting that is formatted. A deeper value is shown as JSON, because fifty nested lists cannot be read. */
const MAX_DEPTH = 50;
/** The most columns of a table. Wider arrays are shown as lists. */
const MAX_COLUMNS = 12;

/** Returns the HTML to insert after the value at a path, such as `companies.0.name`. */
type RenderAfterValue = (path: string) => string;

/** Renders a structured result (valid JSON) as definition lists and tables. `behind` returns HTML to insert after values. */
export function renderJson(json: string, behind: RenderAfterValue = () => ""): string {
  if (measureJsonNesting(json) > MAX_DEPTH) return `<pre><code>${escapeHtml(json)}</code></pre>`;
  return renderValue(parseJsonTree(json), "", behind);
}

function renderValue(tree: JsonTree, path: string, behind: RenderAfterValue): string {
  return renderJsonTree(tree, (name) => (path === "" ? name : `${path}.${name}`), behind) + behind(path);
}

function renderJsonTree(tree: JsonTree, pathTo: (name: string) => string, behind: RenderAfterValue): string {
  switch (tree.kind) {
    case "literal":
      return renderLiteral(tree.token);
    case "string":
      return renderString(tree.text);
    case "object":
      return tree.members.length === 0
        ? renderLiteral("{}")
        : `<dl>\n${tree.members.map((entry) => renderObjectMember(entry, pathTo(entry[0]), behind)).join("\n")}\n</dl>`;
    case "array": {
      if (tree.items.length === 0) return renderLiteral("[]");
      const columns = listColumns(tree.items);
      if (columns) return renderObjectTable(columns, tree.items, pathTo, behind);
      return `<ul class="values">\n${tree.items.map((item, i) => `<li>${renderValue(item, pathTo(`${i}`), behind)}</li>`).join("\n")}\n</ul>`;
    }
  }
}

function renderObjectMember(
  [name, value]: [string, JsonTree],
  path: string,
  behind: RenderAfterValue,
): string {
  return `<dt dir="auto">${escapeHtml(name)}</dt>\n<dd>${renderValue(value, path, behind)}</dd>`;
}

function renderString(text: string): string {
  const href = normalizeLink(text);
  const html = `<span class="text" dir="auto">${escapeHtml(text)}</span>`;
  return href === undefined ? html : renderExternalLink(href, html);
}

function renderLiteral(token: string): string {
  return `<span class="literal">${escapeHtml(token)}</span>`;
}

/** Returns the property names of similar objects: each has at least half of all names, none twice. Undefined for other items. */
function listColumns(items: readonly JsonTree[]): string[] | undefined {
  const all = new Set<string>();
  for (const item of items) {
    if (item.kind !== "object") return undefined;
    for (const [name] of item.members) all.add(name);
    if (all.size > MAX_COLUMNS) return undefined;
  }
  const alike = (items as readonly ObjectTree[]).every(({ members }) => {
    const names = new Set(members.map(([name]) => name));
    return names.size === members.length && names.size * 2 >= all.size && names.size > 0;
  });
  return alike ? [...all] : undefined;
}

function renderObjectTable(
  columns: readonly string[],
  items: readonly JsonTree[],
  pathTo: (name: string) => string,
  behind: RenderAfterValue,
): string {
  const rows = items.map((item) => new Map(item.kind === "object" ? item.members : []));
  const isAtEnd = (name: string) => rows.every((row) => !row.has(name) || isNumberLiteral(row.get(name)));
  const head = columns.map((name) => renderTableCell("th", escapeHtml(name), isAtEnd(name)));
  const body = rows.map((row, i) => {
    const cells = columns.map((name) => {
      const value = row.get(name);
      return renderTableCell(
        "td",
        value ? renderValue(value, `${pathTo(`${i}`)}.${name}`, behind) : "",
        isNumberLiteral(value),
      );
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="table" tabindex="0"><table>\n<thead><tr>${head.join("")}</tr></thead>\n<tbody>${body.join("\n")}</tbody>\n</table></div>`;
}

function renderTableCell(tag: "th" | "td", html: string, atEnd: boolean): string {
  return `<${tag}${atEnd ? ' class="right"' : ""} dir="auto">${html}</${tag}>`;
}

function isNumberLiteral(tree: JsonTree | undefined): boolean {
  return tree?.kind === "literal" && /^[-\d]/.test(tree.token);
}

/** JSON as written: with every digit of numbers, the order of members, and duplicate names. */
export type JsonTree =
  | { kind: "object"; members: [name: string, value: JsonTree][] }
  | { kind: "array"; items: JsonTree[] }
  | { kind: "string"; text: string }
  /** A number, `true`, `false` or `null`, as its token. */
  | { kind: "literal"; token: string };

/** Parses valid JSON. Recursive, so the caller must limit the nesting. */
export function parseJsonTree(text: string): JsonTree {
  const tokens: string[] = [];
  visitJsonTokens(text, (start, end) => tokens.push(text.slice(start, end)));
  let at = 0;
  const readNext = () => tokens[at++] ?? "null";
  const readUntil = (end: string, read: () => void) => {
    while (tokens[at] !== end) {
      if (tokens[at] === ",") at++;
      read();
    }
    at++;
  };
  const readValue = (): JsonTree => {
    const token = readNext();
    if (token === "[") {
      const items: JsonTree[] = [];
      readUntil("]", () => items.push(readValue()));
      return { kind: "array", items };
    }
    if (token === "{") {
      const members: [string, JsonTree][] = [];
      readUntil("}", () => {
        const name = String(JSON.parse(readNext()));
        at++;
        members.push([name, readValue()]);
      });
      return { kind: "object", members };
    }
    return token.startsWith('"') ? { kind: "string", text: JSON.parse(token) } : { kind: "literal", token };
  };
  return readValue();
}
