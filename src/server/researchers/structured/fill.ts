import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Lookup } from "./lookup.js";
import { rowsFor } from "./rows.js";
import { listed, scalar } from "./scalar.js";
import { descriptionOf, propertiesOf, type View, viewsOf } from "./schema-view.js";
import type { Wanted } from "./wanted.js";

export interface Filling {
  lookup: Lookup;
  root: JsonSchema;
  /** Paths that had to be filled and could not be. */
  missing: string[];
}

/** A value for `schema` made of what the sources say; undefined when they do not say it. */
export function fill(schema: unknown, wanted: Wanted, filling: Filling): unknown {
  const views = viewsOf(schema, filling.root);
  for (const view of views) {
    const about = [wanted.about, descriptionOf(view.schema)].filter(Boolean).join(" ");
    const value = fillView(view, { ...wanted, about }, filling);
    if (value !== undefined) return value;
  }
  return views.some(({ nullable }) => nullable) ? null : undefined;
}

function fillView(view: View, wanted: Wanted, filling: Filling): unknown {
  switch (view.type) {
    case "object":
      return object(view.schema, wanted, filling);
    case "array":
      return array(view.schema, wanted, filling);
    case "null":
      return null;
    default:
      return scalar(view, wanted, filling.lookup);
  }
}

function object(schema: JsonSchema, wanted: Wanted, filling: Filling): unknown {
  const filled: Record<string, unknown> = {};
  let complete = true;
  for (const { name, schema: part, required } of propertiesOf(schema)) {
    const path = wanted.path === "" ? name : `${wanted.path}.${name}`;
    const value = fill(part, { path, names: [...wanted.names, name], about: descriptionOf(part) }, filling);
    if (value !== undefined) filled[name] = value;
    else if (required) {
      complete = false;
      if (!filling.missing.some((missed) => missed.startsWith(path))) filling.missing.push(path);
    }
  }
  return complete && Object.keys(filled).length > 0 ? filled : undefined;
}

function array(schema: JsonSchema, wanted: Wanted, { lookup, root }: Filling): unknown {
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  for (const item of viewsOf(schema.items ?? true, root)) {
    const found =
      item.type === "object" ? rowsFor(item.schema, wanted, lookup, root) : listed(item, wanted, lookup);
    if (found.length > 0) return found.slice(0, most);
  }
  return undefined;
}
