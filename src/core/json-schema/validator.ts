import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft06 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };
import formats from "ajv-formats";
import { describeError } from "../text/phrases.js";
import type { Problem, SchemaQuestion } from "./messages.js";

/**
 * A schema may use words of its own. Definitions stay functions of their own (`inlineRefs`): a thousand references
 * to a definition of a thousand properties would be a million checks. To optimize the code of that many takes longer
 * than to run it (`optimize`).
 */
const OPTIONS = {
  strict: false,
  allErrors: false,
  logger: false,
  inlineRefs: false,
  validateSchema: false,
  code: { optimize: false },
} as const;

/** A compiler for each `$schema`, to check whether schemas are valid in its draft. It keeps nothing of what it checks. */
const drafts = new Map<unknown, Ajv>();

/** The first problem, undefined if nothing is wrong. It has no time limit: a schema's pattern can take for ever. */
export function answer({ schema, value }: SchemaQuestion): Problem | undefined {
  let validate: ValidateFunction;
  try {
    // Without `$schema`, which has chosen the compiler: ajv knows each draft by one of its addresses only.
    const { $schema, ...parsed } = JSON.parse(schema);
    const draft = drafts.get($schema) ?? createCompiler($schema);
    drafts.set($schema, draft);
    if (draft.validateSchema(parsed) !== true) return pickFirstProblem(draft.errors);
    validate = createCompiler($schema).compile(parsed);
  } catch (error) {
    // A schema nested too deep for the stack was refused before, so a RangeError means a circle.
    return {
      message: error instanceof RangeError ? "its references lead in a circle" : describeError(error),
    };
  }
  if (value === undefined) return undefined;
  try {
    return validate(JSON.parse(value)) ? undefined : pickFirstProblem(validate.errors);
  } catch (error) {
    if (error instanceof RangeError) return { message: "it is nested too deep to be checked" };
    throw error;
  }
}

/** A new one for each schema: its `$id`s would stand in the way of the next one's, or of the draft's own. */
function createCompiler($schema: unknown): Ajv {
  const compiler = getCompiler($schema, OPTIONS);
  formats.default(compiler);
  return compiler;
}

function pickFirstProblem(errors: readonly ErrorObject[] | null | undefined): Problem | undefined {
  const [error] = errors ?? [];
  if (!error) return undefined;
  const { instancePath: path, message = "does not fit", params } = error;
  const allowed: unknown = params.allowedValues;
  return { path, message: Array.isArray(allowed) ? `${message} (${allowed.join(", ")})` : message };
}

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
export function getCompiler($schema: unknown, options: Options): Ajv {
  if ($schema === undefined) return new Ajv2020(options);
  if (typeof $schema !== "string") throw new Error("$schema must be a string");
  const name = $schema.replace(/^https?:\/\//, "").replace(/#$/, "");
  const draft = Object.hasOwn(META_SCHEMAS, name) ? META_SCHEMAS[name] : undefined;
  if (draft === undefined) throw new Error(`its $schema is ${$schema}, and only ${NAMES} can be used`);
  return draft(options);
}
