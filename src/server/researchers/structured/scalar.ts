import type { Scored } from "../extractive/sentences.js";
import { plain } from "../sources/tables.js";
import { words } from "../sources/words.js";
import type { Lookup } from "./lookup.js";
import { overlap, propertyWords } from "./property-words.js";
import type { View } from "./schema-view.js";
import { allowed, cellValue, numbersIn, particular } from "./values.js";
import type { Wanted } from "./wanted.js";

const ANSWER = /^(?:answer|summary|conclusion|overview|result|report|explanation|findings?|text|response)$/i;
const SOURCES = /^(?:sources?|citations?|references?|files?|locations?)$/i;
const QUOTES = /^(?:quotes?|quotations?|evidence|passages?|excerpts?)$/i;
const MOST_LISTED = 5;
/** A number belongs to a word that follows it within this many words: "10 creates", "10 free creates". */
const NEAR = 2;

/** One string, number or boolean that the sources say; undefined when they do not, or not clearly. */
export function scalar(view: View, wanted: Wanted, lookup: Lookup): unknown {
  if ("const" in view.schema) return view.schema.const;
  const name = wanted.names.at(-1) ?? "";
  if (view.type === "string" && allowed(view.schema) === undefined && isFree(view)) {
    const { answer, quotes } = lookup.findings;
    const said = answer.filter(({ kind }) => kind !== "code");
    if (ANSWER.test(name)) return said.map(({ text }) => text).join(" ") || undefined;
    if (SOURCES.test(name)) return quotes[0] && place(quotes[0]);
    if (QUOTES.test(name)) return quotes[0]?.quote.join("\n");
  }
  const cell = cellFor(view, wanted, lookup);
  if (cell !== undefined || view.type === "boolean") return cell;
  const sentences = lookup.sentences(`${wanted.names.join(" ")} ${wanted.about}`);
  for (const sentence of sentences.filter((one) => speaksOf(one, wanted, view))) {
    const value = valueIn(plain(sentence.text), view, wanted);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The values for an array of strings or numbers: a column of a table, the permitted values that occur, sentences. */
export function listed(view: View, wanted: Wanted, lookup: Lookup): unknown[] {
  const name = wanted.names.at(-1) ?? "";
  const { quotes } = lookup.findings;
  if (view.type === "string" && isFree(view)) {
    if (SOURCES.test(name)) return quotes.map(place);
    if (QUOTES.test(name)) return quotes.map(({ quote }) => quote.join("\n"));
  }
  const column = columnFor(view, wanted, lookup);
  if (column.length > 0) return column;
  if (view.type !== "string") return [];
  const sentences = lookup
    .sentences(`${wanted.names.join(" ")} ${wanted.about}`)
    .filter((one) => speaksOf(one, wanted, view));
  const permitted = allowed(view.schema);
  if (permitted)
    return permitted.filter((value) => sentences.slice(0, MOST_LISTED).some((one) => says(one.text, value)));
  const values = sentences.map(({ text }) => valueIn(plain(text), view, wanted));
  return [...new Set(values.filter((value) => value !== undefined))].slice(0, MOST_LISTED);
}

function isFree({ schema }: View): boolean {
  return schema.format === undefined && schema.pattern === undefined && allowed(schema) === undefined;
}

function place({ file, line }: Scored): string {
  return `${file}:${line}`;
}

/** For numbers every word of the name has to be there; a text is about a name when they share one. */
function speaksOf({ terms, around }: Scored, { names, about }: Wanted, { type }: View): boolean {
  const named = propertyWords(names.at(-1) ?? "");
  const said = new Set([...terms, ...around]);
  if (type !== "string") return named.size > 0 && overlap(named, said) === named.size;
  return named.size === 0 || overlap(named, said) > 0 || overlap(new Set(words(about)), said) > 1;
}

function valueIn(text: string, view: View, { names }: Wanted): unknown {
  if (view.type === "string") {
    const permitted = allowed(view.schema);
    if (permitted === undefined) return fitting(particular(text, view.schema), view);
    const named = permitted.filter((value) => says(text, value));
    return named.length === 1 ? named[0] : undefined;
  }
  const found = numbersIn(text).filter(({ value }) => view.type === "number" || Number.isInteger(value));
  const named = propertyWords(names.at(-1) ?? "");
  const owned = found.filter(({ after }) => overlap(named, new Set(words(after).slice(0, NEAR))) > 0);
  const values = new Set((owned.length > 0 ? owned : found).map(({ value }) => value));
  return values.size === 1 ? [...values][0] : undefined;
}

function fitting(text: string | undefined, { schema }: View): string | undefined {
  return typeof schema.maxLength === "number" && (text?.length ?? 0) > schema.maxLength ? undefined : text;
}

function says(text: string, value: unknown): boolean {
  const literal = String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "iu").test(text);
}

/** The one cell whose row and column together have every word of the name: "pro creates per hour". */
function cellFor(view: View, { names }: Wanted, lookup: Lookup): unknown {
  const named = propertyWords(names.join(" "));
  const values = new Set<unknown>();
  for (const { header, rows, around } of lookup.tables) {
    for (const row of rows) {
      const label = new Set(words(row[0] ?? ""));
      if (overlap(label, named) === 0) continue;
      row.slice(1).forEach((cell, i) => {
        const title = new Set(words(header[i + 1] ?? ""));
        if (overlap(title, named) === 0) return;
        const said = new Set([...label, ...title, ...around, ...words(cell)]);
        const value = overlap(named, said) === named.size ? cellValue(cell, view) : undefined;
        if (value !== undefined) values.add(value);
      });
    }
  }
  return values.size === 1 ? [...values][0] : undefined;
}

/** The cells of the one column that the name means. */
function columnFor(view: View, { names }: Wanted, lookup: Lookup): unknown[] {
  const named = propertyWords(names.at(-1) ?? "");
  let best: { fit: number; values: unknown[] } = { fit: 0, values: [] };
  const topic = new Set(words(lookup.prompt));
  for (const { header, rows, around } of lookup.tables) {
    header.forEach((title, index) => {
      const own = new Set(words(title));
      if (own.size === 0 || overlap(named, own) < named.size) return;
      const values = rows.map((row) => cellValue(row[index] ?? "", view));
      const found = [...new Set(values.filter((value) => value !== undefined))];
      const fit = named.size / own.size + overlap(topic, around) / Math.max(1, topic.size);
      if (found.length > 0 && found.length >= values.length / 2 && fit > best.fit)
        best = { fit, values: found };
    });
  }
  return best.values;
}
