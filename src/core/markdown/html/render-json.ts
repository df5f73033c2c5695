import { listJsonParts, measureJsonNesting } from "../../json/exact-json.js";
import { normalizeLink } from "../document-types.js";
import { escapeHtml, renderExternalLink } from "./render-blocks.js";

/** The deepest nesting that is formatted. A deeper value is shown as JSON, because each level is scanned again. */
const MAX_DEPTH = 20;
/** The most columns of a table. Wider arrays are shown as lists. */
const MAX_COLUMNS = 12;

/** Returns the HTML to insert after the value at a path, such as `companies.0.name`. */
type RenderAfterValue = (path: string) => string;

/** Renders a structured result (valid JSON) as definition lists and tables. `behind` returns HTML to insert after values. */
export function renderJson(json: string, behind: RenderAfterValue = () => ""): string {
  if (measureJsonNesting(json) > MAX_DEPTH) return `<pre><code>${escapeHtml(json)}</code></pre>`;
  return renderValue(json.trim(), "", behind);
}

/** Renders JSON as written: with every digit of numbers, the order of members, and duplicate names. */
function renderValue(json: string, path: string, behind: RenderAfterValue): string {
  return renderPlainValue(json, path === "" ? "" : `${path}.`, behind) + behind(path);
}

/** Renders a value without what follows it. `prefix`: the beginning of the paths of its parts. */
function renderPlainValue(json: string, prefix: string, behind: RenderAfterValue): string {
  if (json.startsWith('"')) return renderString(JSON.parse(json));
  const parts = /^[[{]/.test(json) ? listJsonParts(json) : [];
  if (parts.length === 0) return `<span class="literal">${escapeHtml(json.replace(/\s+/g, ""))}</span>`;
  if (json.startsWith("{")) {
    const members = parts.map(
      ({ name, text }) =>
        `<dt dir="auto">${escapeHtml(name)}</dt>\n<dd>${renderValue(text, prefix + name, behind)}</dd>`,
    );
    return `<dl>\n${members.join("\n")}\n</dl>`;
  }
  const table = renderObjectTable(parts, prefix, behind);
  const items = table
    ? []
    : parts.map(({ text }, i) => `<li>${renderValue(text, `${prefix}${i}`, behind)}</li>`);
  return table ?? `<ul class="values">\n${items.join("\n")}\n</ul>`;
}

function renderString(text: string): string {
  const href = normalizeLink(text);
  const html = `<span class="text" dir="auto">${escapeHtml(text)}</span>`;
  return href === undefined ? html : renderExternalLink(href, html);
}

/** Renders similar objects as a table: each has at least half of all names, none twice. Undefined for other items. */
function renderObjectTable(
  items: readonly { text: string }[],
  prefix: string,
  behind: RenderAfterValue,
): string | undefined {
  if (!items.every(({ text }) => text.startsWith("{"))) return undefined;
  const members = items.map(({ text }) => listJsonParts(text));
  const rows = members.map((parts) => new Map(parts.map(({ name, text }) => [name, text])));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const isAlike = rows.every(
    (row, i) => row.size === members[i]?.length && row.size * 2 >= columns.length && row.size > 0,
  );
  if (columns.length > MAX_COLUMNS || !isAlike) return undefined;
  const isAtEnd = (name: string) => rows.every((row) => isNumberLiteral(row.get(name) ?? "0"));
  const head = columns.map((name) => renderTableCell("th", escapeHtml(name), isAtEnd(name)));
  const body = rows.map((row, i) => {
    const cells = columns.map((name) => {
      const json = row.get(name) ?? "";
      return renderTableCell(
        "td",
        json && renderValue(json, `${prefix}${i}.${name}`, behind),
        isNumberLiteral(json),
      );
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="table" tabindex="0"><table>\n<thead><tr>${head.join("")}</tr></thead>\n<tbody>${body.join("\n")}</tbody>\n</table></div>`;
}

function renderTableCell(tag: "th" | "td", html: string, atEnd: boolean): string {
  return `<${tag}${atEnd ? ' class="right"' : ""} dir="auto">${html}</${tag}>`;
}

const isNumberLiteral = (json: string) => /^[-\d]/.test(json);
