import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Table } from "../sources/folder-search.js";
import { words } from "../sources/words.js";
import { cellValue } from "./literals.js";
import type { Lookup } from "./lookup.js";
import { overlap, propertyWords } from "./schema/property-words.js";
import { descriptionOf, propertiesOf, type View, viewsOf } from "./schema/schema-view.js";
import type { Found, Wanted } from "./schema/wanted.js";

interface Column {
  name: string;
  required: boolean;
  view: View;
  index: number;
  fit: number;
}

/** Objects of the kind `schema`, one for each row of the table whose columns fit its properties best. */
export async function rowsFor(
  schema: JsonSchema,
  wanted: Wanted,
  lookup: Lookup,
  root: JsonSchema,
): Promise<Found[]> {
  const topic = new Set(words(`${wanted.names.join(" ")} ${wanted.about} ${lookup.prompt}`));
  let best: { score: number; rows: Found[] } = { score: 0, rows: [] };
  for (const table of await lookup.tables()) {
    const columns = columnsFor(schema, table, root);
    if (columns === undefined) continue;
    const rows = table.rows.flatMap(({ line, cells }) =>
      objectOf(cells, columns).map((value) => ({ value, places: [`${table.file}:${line}`] })),
    );
    const fit = columns.reduce((sum, column) => sum + column.fit, 0);
    const said = new Set([...words(table.around), ...words(table.header.join(" "))]);
    const score = fit + overlap(topic, said) / Math.max(1, topic.size);
    if (rows.length > 0 && score > best.score) best = { score, rows };
  }
  return best.rows;
}

/** Which column of the table each property is; undefined if a required one is not among them, or unclear. */
function columnsFor(schema: JsonSchema, table: Table, root: JsonSchema): Column[] | undefined {
  const properties = propertiesOf(schema);
  const anyRequired = properties.some(({ required }) => required);
  const columns: Column[] = [];
  for (const { name, schema: part, required } of properties) {
    const [view] = viewsOf(part, root);
    const found = view && columnOf(name, descriptionOf(view.schema), table);
    if (found) columns.push({ name, required: required || !anyRequired, view, ...found });
    else if (required || !anyRequired) return undefined;
  }
  const distinct = new Set(columns.map(({ index }) => index)).size === columns.length;
  return columns.length > 0 && distinct ? columns : undefined;
}

/**
 * The one column that `name` means: they share a word, and every word of the name stands in the column's header,
 * in its cells, or around the table ("creates per hour": the header says create, the text above it hour). A column
 * whose header is a word of the description will do too.
 */
function columnOf(
  name: string,
  description: string,
  table: Table,
): { index: number; fit: number } | undefined {
  const named = propertyWords(name);
  const described = new Set(words(description));
  const around = words(table.around);
  const fits = table.header.map((title, index) => {
    const header = new Set(words(title));
    if (header.size === 0) return { index, fit: 0 };
    const cells = words(table.rows.map(({ cells }) => cells[index] ?? "").join(" "));
    const said = new Set([...header, ...around, ...cells]);
    const both = overlap(named, header);
    if (both > 0 && overlap(named, said) === named.size)
      return { index, fit: both / (named.size + header.size - both) };
    return { index, fit: overlap(header, described) === header.size ? 0.3 : 0 };
  });
  const [first, second] = fits.sort((a, b) => b.fit - a.fit);
  return first && first.fit > 0 && first.fit > (second?.fit ?? 0) ? first : undefined;
}

/** One row as an object; nothing when a required cell does not say what is asked. */
function objectOf(row: readonly string[], columns: readonly Column[]): unknown[] {
  const filled: Record<string, unknown> = {};
  for (const { name, required, view, index } of columns) {
    const value = cellValue(row[index] ?? "", view);
    if (value !== undefined) filled[name] = value;
    else if (view.nullable) filled[name] = null;
    else if (required) return [];
  }
  return [filled];
}
