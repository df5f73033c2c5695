import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Table } from "../sources/corpus.js";
import { words } from "../sources/words.js";
import { overlap, propertyWords, saysRole, unitsIn, type ValueRole } from "./names.js";
import { descriptionOf, propertiesOf, type SchemaReader, type View } from "./schema.js";
import { cellValue } from "./values.js";

/** A value with where the sources give it, as in `docs/a.md:12`. */
export interface PlacedValue<T = unknown> {
  value: T;
  place: string;
}

/** What a plain value has to fit beside its type. */
export interface Demand {
  /** The words of its name and of those around it. */
  named: ReadonlySet<string>;
  /** What it has to be said to be; empty if any value of that name will do. */
  roles: readonly ValueRole[];
  /** The units that its name or description gives; empty if there are none. */
  units: ReadonlySet<string>;
  /** All words of the question, the name and the description. */
  known: ReadonlySet<string>;
  /** Whether words of a label cover what the question is about. */
  isAbout(label: readonly string[]): boolean;
}

/** The one value on which all cells agree that fit; undefined if there is none or they contradict each other. */
export function agreed(found: readonly PlacedValue[]): PlacedValue | undefined {
  const values = new Set(found.map(({ value }) => value));
  return values.size === 1 ? found[0] : undefined;
}

/**
 * Cells whose row and column together have every word of the name ("pro creates per hour"), else those in a column
 * whose title says what is asked ("Upper limit") of a row whose label is what the question is about ("columns per
 * table") and about nothing else.
 */
export function cellFor(
  view: View,
  { named, roles, units, known, isAbout }: Demand,
  tables: readonly Table[],
): PlacedValue | undefined {
  const byName: PlacedValue[] = [];
  const byLabel: PlacedValue[] = [];
  for (const { file, header, rows, around } of tables) {
    for (const { line, cells } of rows) {
      const label = words(cells[0] ?? "");
      cells.slice(1).forEach((cell, i) => {
        const value = cellValue(cell, view);
        if (value === undefined || label.length === 0) return;
        const found = { value, place: `${file}:${line}` };
        const title = header[i + 1] ?? "";
        const both = [new Set(label), new Set(words(title))].every((one) => overlap(one, named) > 0);
        const said = new Set([...label, ...words(title), ...words(around), ...words(cell)]);
        if (both && overlap(named, said) === named.size) byName.push(found);
        const isUnit = [...unitsIn(cell)].every((unit) => units.has(unit));
        const isOnlyThis = label.every((word) => known.has(word));
        if (isUnit && isOnlyThis && saysRole(title, roles) && isAbout(label)) byLabel.push(found);
      });
    }
  }
  return byName.length > 0 ? agreed(byName) : agreed(byLabel);
}

/** A property of an object, as a column of a table. */
interface Column {
  name: string;
  required: boolean;
  view: View;
}

type Row = Record<string, unknown>;

/** Objects of the kind `schema`, one for each row of the table that fits its properties, and `topic`, best. */
export function rowsFor(
  schema: JsonSchema,
  topic: string,
  tables: readonly Table[],
  reader: SchemaReader,
): PlacedValue<Row>[] {
  const properties = propertiesOf(schema);
  const anyRequired = properties.some(({ required }) => required);
  const columns = properties.flatMap(({ name, schema: part, required }): Column[] => {
    const [view] = reader.views(part);
    if (view === undefined) return [];
    return [{ name, required: required || !anyRequired, view }];
  });
  const asked = new Set(words(topic));
  let best: { score: number; rows: PlacedValue<Row>[] } = { score: 0, rows: [] };
  for (const table of tables) {
    const placed = columns.map((column) => ({ ...column, ...columnOf(column, table) }));
    const known = placed.filter(({ fit }) => fit > 0);
    const isWhole = placed.every(({ fit, required }) => fit > 0 || !required);
    const isClear = new Set(known.map(({ index }) => index)).size === known.length;
    if (!isWhole || !isClear || known.length === 0) continue;
    const rows = table.rows.flatMap(({ line, cells }) =>
      objectOf(cells, known).map((value) => ({ value, place: `${table.file}:${line}` })),
    );
    const said = new Set(words([table.around, ...table.header].join(" ")));
    const fit = known.reduce((sum, column) => sum + column.fit, 0);
    const score = fit + overlap(asked, said) / Math.max(1, asked.size);
    if (rows.length > 0 && score > best.score) best = { score, rows };
  }
  return best.rows;
}

/**
 * The one column that a name means: they share a word, and every word of the name stands in the column's header,
 * in its cells, or around the table ("creates per hour": the header says create, the text above it hour). A column
 * whose header is a word of the description will do too. `fit` is 0 if there is none.
 */
function columnOf({ name, view }: Column, table: Table): { index: number; fit: number } {
  const named = propertyWords(name);
  const described = new Set(words(descriptionOf(view.schema)));
  const fits = table.header.map((title, index) => {
    const header = new Set(words(title));
    const cells = table.rows.map((row) => row.cells[index] ?? "");
    const said = new Set(words([title, table.around, ...cells].join(" ")));
    const both = overlap(named, header);
    if (both > 0 && overlap(named, said) === named.size)
      return { index, fit: both / (named.size + header.size - both) };
    return { index, fit: header.size > 0 && overlap(header, described) === header.size ? 0.3 : 0 };
  });
  const [first, second] = fits.sort((a, b) => b.fit - a.fit);
  return first && first.fit > (second?.fit ?? 0) ? first : { index: 0, fit: 0 };
}

/** One row as an object; nothing if a required cell does not say what is asked. */
function objectOf(row: readonly string[], columns: readonly (Column & { index: number })[]): Row[] {
  const filled: Row = {};
  for (const { name, required, view, index } of columns) {
    const value = cellValue(row[index] ?? "", view) ?? (view.nullable ? null : undefined);
    if (value !== undefined) filled[name] = value;
    else if (required) return [];
  }
  return [filled];
}
