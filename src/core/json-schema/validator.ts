import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft06 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };
import formats from "ajv-formats";
import { describeError } from "../text/format-text.js";

export interface SchemaProblem {
  /** A JSON pointer, empty for the whole value; undefined if the problem does not concern one place. */
  path?: string;
  message: string;
}

/** A request to the schema thread: whether a schema is usable or, with `value`, whether the value fits. Both are JSON texts. */
export interface SchemaCheckRequest {
  schema: string;
  value?: string;
}

/**
 * Options of ajv. `strict`: a schema may have unknown keywords. `inlineRefs`: definitions stay separate functions, because
 * inlining a thousand references to a definition of a thousand properties would make a million checks. `optimize`: optimizing
 * so much code takes longer than running it.
 */
const OPTIONS = {
  strict: false,
  allErrors: false,
  logger: false,
  inlineRefs: false,
  validateSchema: false,
  code: { optimize: false },
} as const;

/** The compiler that checks schemas against their draft, by `$schema`. It does not keep the schemas that it checks. */
const drafts = new Map<unknown, Ajv>();

/** Returns the first problem; undefined if there is none. Has no time limit itself, although a pattern may take for ever. */
export function findFirstSchemaProblem({ schema, value }: SchemaCheckRequest): SchemaProblem | undefined {
  let validate: ValidateFunction;
  try {
    // Omit `$schema`, which has already chosen the compiler: ajv knows only one address of each draft.
    const { $schema, ...parsed } = JSON.parse(schema);
    const draft = drafts.get($schema) ?? createSchemaCompiler($schema);
    drafts.set($schema, draft);
    if (draft.validateSchema(parsed) !== true) return pickFirstError(draft.errors);
    validate = createSchemaCompiler($schema).compile(parsed);
  } catch (error) {
    // Schemas too deep for the stack were refused by `explainIfTooLarge`, so a RangeError means a cycle.
    return {
      message: error instanceof RangeError ? "its references form a cycle" : describeError(error),
    };
  }
  if (value === undefined) return undefined;
  try {
    return validate(JSON.parse(value)) ? undefined : pickFirstError(validate.errors);
  } catch (error) {
    if (error instanceof RangeError) return { message: "it is nested too deep to be checked" };
    throw error;
  }
}

function pickFirstError(errors: readonly ErrorObject[] | null | undefined): SchemaProblem | undefined {
  const [error] = errors ?? [];
  if (!error) return undefined;
  const { instancePath: path, message = "does not fit", params } = error;
  const values: unknown = params.allowedValues;
  return {
    path,
    message: Array.isArray(values) ? `${message} (${values.join(", ")})` : message,
  };
}

/** The constructors of compilers by value of `$schema`, without the scheme and an empty fragment. */
const DRAFTS: Readonly<Record<string, () => Ajv>> = {
  "json-schema.org/draft/2020-12/schema": () => new Ajv2020(OPTIONS),
  "json-schema.org/draft/2019-09/schema": () => new Ajv2019(OPTIONS),
  "json-schema.org/draft-07/schema": () => new Ajv(OPTIONS),
  "json-schema.org/draft-06/schema": () =>
    new Ajv({ ...OPTIONS, defaultMeta: draft06.$id }).addMetaSchema(draft06),
};

/**
 * Creates a compiler for one schema, for the draft that `$schema` names (default: 2020-12). Throws an Error that names the
 * supported drafts. Do not share it, because the `$id`s of two schemas, or those of the draft, would clash.
 */
function createSchemaCompiler($schema: unknown = "http://json-schema.org/draft/2020-12/schema"): Ajv {
  if (typeof $schema !== "string") throw new Error("$schema must be a string");
  const name = $schema.replace(/^https?:\/\//, "").replace(/#$/, "");
  const create = Object.hasOwn(DRAFTS, name) ? DRAFTS[name] : undefined;
  if (!create)
    throw new Error(`its $schema is ${$schema}, and only 2020-12, 2019-09, draft-07 or draft-06 can be used`);
  const compiler = create();
  formats.default(compiler);
  return compiler;
}
