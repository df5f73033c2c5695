import type { JsonSchema } from "../../../protocol/conversation.js";
import { listed } from "./listed.js";
import type { Lookup } from "./lookup.js";
import { rowsFor } from "./rows.js";
import { scalar } from "./scalar.js";
import { descriptionOf, propertiesOf, type View, viewsOf } from "./schema/schema-view.js";
import type { Found, Wanted } from "./schema/wanted.js";

export interface Filling {
  lookup: Lookup;
  root: JsonSchema;
  /** Paths that had to be filled and could not be. */
  missing: string[];
}

/** A value for `schema` made of what the sources say; undefined if they do not say it. */
export async function fill(schema: unknown, wanted: Wanted, filling: Filling): Promise<Found | undefined> {
  const views = viewsOf(schema, filling.root);
  for (const view of views) {
    const about = [wanted.about, descriptionOf(view.schema)].filter(Boolean).join(" ");
    const found = await fillView(view, { ...wanted, about }, filling);
    if (found !== undefined) return found;
  }
  return views.some(({ nullable }) => nullable) ? { value: null, places: [] } : undefined;
}

async function fillView(view: View, wanted: Wanted, filling: Filling): Promise<Found | undefined> {
  switch (view.type) {
    case "object":
      return object(view.schema, wanted, filling);
    case "array":
      return array(view.schema, wanted, filling);
    case "null":
      return { value: null, places: [] };
    default:
      return scalar(view, wanted, filling.lookup);
  }
}

async function object(schema: JsonSchema, wanted: Wanted, filling: Filling): Promise<Found | undefined> {
  const filled: Record<string, unknown> = {};
  const places: string[] = [];
  let complete = true;
  for (const { name, schema: part, required } of propertiesOf(schema)) {
    const path = wanted.path === "" ? name : `${wanted.path}.${name}`;
    const inner = { path, names: [...wanted.names, name], about: descriptionOf(part) };
    const found = await fill(part, inner, filling);
    if (found !== undefined) {
      Object.defineProperty(filled, name, {
        value: found.value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
      places.push(...found.places);
    } else if (required) {
      complete = false;
      if (!filling.missing.some((missed) => missed.startsWith(path))) filling.missing.push(path);
    }
  }
  return complete && Object.keys(filled).length > 0 ? { value: filled, places } : undefined;
}

async function array(
  schema: JsonSchema,
  wanted: Wanted,
  { lookup, root }: Filling,
): Promise<Found | undefined> {
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  for (const item of viewsOf(schema.items ?? true, root)) {
    const found =
      item.type === "object"
        ? await rowsFor(item.schema, wanted, lookup, root)
        : await listed(item, wanted, lookup);
    const kept = found.slice(0, most);
    if (kept.length > 0)
      return { value: kept.map(({ value }) => value), places: kept.flatMap(({ places }) => places) };
  }
  return undefined;
}
