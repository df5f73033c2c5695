import { type Context, coverageOf } from "../extractive/coverage.js";
import type { Table } from "../sources/folder-search.js";
import { words } from "../sources/words.js";
import type { Demand } from "./candidates.js";
import { titleSaysRole } from "./claims.js";
import { cellValue } from "./literals.js";
import { overlap, propertyWords } from "./schema/property-words.js";
import type { View } from "./schema/schema-view.js";
import { unitsIn } from "./schema/units.js";
import type { Found, Wanted } from "./schema/wanted.js";

/** The one cell whose row and column together have every word of the name: "pro creates per hour". */
export function cellFor(view: View, { names }: Wanted, tables: readonly Table[]): Found | undefined {
  const named = propertyWords(names.join(" "));
  const found = new Map<unknown, string[]>();
  for (const { file, header, rows, around } of tables) {
    for (const { line, cells } of rows) {
      const label = new Set(words(cells[0] ?? ""));
      if (overlap(label, named) === 0) continue;
      cells.slice(1).forEach((cell, i) => {
        const title = new Set(words(header[i + 1] ?? ""));
        if (overlap(title, named) === 0) return;
        const said = new Set([...label, ...title, ...words(around), ...words(cell)]);
        const value = overlap(named, said) === named.size ? cellValue(cell, view) : undefined;
        if (value !== undefined) found.set(value, [...(found.get(value) ?? []), `${file}:${line}`]);
      });
    }
  }
  const [only] = found;
  return only !== undefined && found.size === 1 ? { value: only[0], places: only[1] } : undefined;
}

const NOWHERE: Context = {
  isRow: false,
  nearest: new Set(),
  header: new Set(),
  outer: new Set(),
  passage: new Set(),
};
/** Which share of the subject a row's label has to have. */
const SUBJECT = 0.8;

/**
 * The one cell in a column whose title says what is asked ("Upper limit") of a row whose label is what the question is
 * about, and about nothing else: "columns per table".
 */
export function labelledCell(
  demand: Demand,
  { about, names }: Wanted,
  tables: readonly Table[],
): Found | undefined {
  const { view, roles, units, subject } = demand;
  const known = new Set([...subject.keys(), ...words(about), ...propertyWords(names.at(-1) ?? "")]);
  const found = new Map<unknown, string[]>();
  for (const { file, header, rows } of tables) {
    const column = header.findIndex((title, i) => i > 0 && titleSaysRole(title, roles));
    for (const { line, cells } of column < 0 ? [] : rows) {
      const label = new Set(words(cells[0] ?? ""));
      const cell = cells[column] ?? "";
      if (label.size === 0 || overlap(label, known) < label.size) continue;
      if (coverageOf(subject, label, NOWHERE) < SUBJECT) continue;
      const unit = [...unitsIn(cell)];
      if (!unit.every((one) => units.has(one))) continue;
      const value = cellValue(cell, view);
      if (value !== undefined) found.set(value, [...(found.get(value) ?? []), `${file}:${line}`]);
    }
  }
  const [only] = found;
  return only !== undefined && found.size === 1 ? { value: only[0], places: only[1] } : undefined;
}

/** The cells of the one column that the name means. */
export function columnFor(view: View, { names }: Wanted, prompt: string, tables: readonly Table[]): Found[] {
  const named = propertyWords(names.at(-1) ?? "");
  let best: { fit: number; values: Found[] } = { fit: 0, values: [] };
  const topic = new Set(words(prompt));
  for (const { file, header, rows, around } of tables) {
    header.forEach((title, index) => {
      const own = new Set(words(title));
      if (own.size === 0 || overlap(named, own) < named.size) return;
      const values = new Map<unknown, Found>();
      for (const { line, cells } of rows) {
        const value = cellValue(cells[index] ?? "", view);
        if (value !== undefined && !values.has(value))
          values.set(value, { value, places: [`${file}:${line}`] });
      }
      const fit = named.size / own.size + overlap(topic, new Set(words(around))) / Math.max(1, topic.size);
      if (values.size >= rows.length / 2 && values.size > 0 && fit > best.fit)
        best = { fit, values: [...values.values()] };
    });
  }
  return best.values;
}
