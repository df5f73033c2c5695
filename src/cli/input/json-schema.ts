import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../../protocol/conversation.js";

/** Draft-07 and its elders by name, else 2020-12, the current one. */
function compiler(schema: JsonSchema): Ajv {
  const draft = typeof schema.$schema === "string" && /draft-0[467]/.test(schema.$schema);
  const ajv = new (draft ? Ajv : Ajv2020)({ strict: false, allErrors: false, logger: false });
  formats.default(ajv);
  return ajv;
}

/** Why a value is no JSON Schema and where in it, or undefined where it is one. */
export function schemaFault(schema: JsonSchema): string | undefined {
  const ajv = compiler(schema);
  try {
    if (ajv.validateSchema(schema) !== true) return describe(ajv.errors, "the top level");
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function describe(errors: ErrorObject[] | null | undefined, whole: string): string {
  const first = errors?.[0];
  const allowed: unknown = first?.params?.allowedValues;
  const values = Array.isArray(allowed) ? ` (${allowed.join(", ")})` : "";
  return `at ${first?.instancePath || whole}: ${first?.message ?? "it does not hold"}${values}`;
}
