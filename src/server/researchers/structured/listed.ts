import { placeOf } from "../extractive/report.js";
import { columnFor } from "./cells.js";
import { isFree } from "./literals.js";
import type { Lookup } from "./lookup.js";
import { candidates, QUOTES, SOURCES, TEXT } from "./scalar.js";
import type { View } from "./schema/schema-view.js";
import type { Found, Wanted } from "./schema/wanted.js";

const MOST_LISTED = 5;

/** The values for an array of strings or numbers: quotes, a column of a table, values that the sources give. */
export async function listed(view: View, wanted: Wanted, lookup: Lookup): Promise<Found[]> {
  const name = wanted.names.at(-1) ?? "";
  const { quotes } = await lookup.findings();
  if (view.type === "string" && isFree(view)) {
    if (SOURCES.test(name))
      return quotes.map((quote) => ({ value: placeOf(quote), places: [placeOf(quote)] }));
    if (QUOTES.test(name))
      return quotes.map((quote) => ({ value: quote.quote.join("\n"), places: [placeOf(quote)] }));
  }
  const column = columnFor(view, wanted, lookup.prompt, await lookup.tables());
  if (column.length > 0 || view.type !== "string") return column;
  if (isFree(view)) {
    if (!TEXT.test(name)) return [];
    const read = quotes.filter(({ kind }) => kind !== "code").slice(0, MOST_LISTED);
    return read.map((quote) => ({ value: quote.text, places: [placeOf(quote)] }));
  }
  const values = new Map<unknown, Found>();
  for (const { value, window } of await candidates(view, wanted, lookup)) {
    if (!values.has(value)) values.set(value, { value, places: [placeOf(window)] });
  }
  return [...values.values()].slice(0, MOST_LISTED);
}
