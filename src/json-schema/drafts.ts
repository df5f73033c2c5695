import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft06 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };

/** What `$schema` may say, without the scheme and the empty fragment. */
const META_SCHEMAS: Readonly<Record<string, (options: Options) => Ajv>> = {
  "json-schema.org/draft/2020-12/schema": (options) => new Ajv2020(options),
  "json-schema.org/draft/2019-09/schema": (options) => new Ajv2019(options),
  "json-schema.org/draft-07/schema": (options) => new Ajv(options),
  "json-schema.org/draft-06/schema": (options) =>
    new Ajv({ ...options, defaultMeta: draft06.$id }).addMetaSchema(draft06),
};

const NAMES = "2020-12, 2019-09, draft-07 or draft-06";

/** A compiler for the draft that `$schema` names, 2020-12 without it. Throws an Error that says which are known. */
export function compilerFor($schema: unknown, options: Options): Ajv {
  if ($schema === undefined) return new Ajv2020(options);
  if (typeof $schema !== "string") throw new Error("$schema must be a string");
  const name = $schema.replace(/^https?:\/\//, "").replace(/#$/, "");
  const draft = Object.hasOwn(META_SCHEMAS, name) ? META_SCHEMAS[name] : undefined;
  if (draft === undefined) throw new Error(`its $schema is ${$schema}, and only ${NAMES} can be used`);
  return draft(options);
}
