import { parseExactAt } from "../../json/exact-json.js";
import type { JsonSchema } from "../../protocol/conversation.js";
import { ServiceError } from "./service-error.js";

/** §2, create request body, with its default filled in. */
export interface CreateRequest {
  prompt: string;
  structured_output: boolean;
  output_schema?: JsonSchema;
}

/** Reads the bytes of a create body. Refuses with VALIDATION_ERROR, naming the field (§7). */
export async function readCreateBody(bytes: Uint8Array): Promise<CreateRequest> {
  const body = parse(bytes);
  if (!isObject(body)) throw invalid("The request body must be a JSON object.");
  const { prompt, structured_output = false, output_schema } = body;
  if (prompt === undefined) throw invalid("The field prompt is required.");
  if (typeof prompt !== "string") throw invalid("The field prompt must be a string.");
  if (prompt.trim() === "") throw invalid("The field prompt must not be blank.");
  if (typeof structured_output !== "boolean") {
    throw invalid("The field structured_output must be a boolean.");
  }
  if (output_schema === undefined) return { prompt, structured_output };
  if (!isObject(output_schema)) {
    throw invalid("The field output_schema must be an object: a JSON Schema.");
  }
  if (!structured_output) {
    throw invalid("The field output_schema needs structured_output to be true.");
  }
  const { checkSchema, problemText } = await import("../../json-schema/check.js");
  const problem = await checkSchema(output_schema);
  if (problem !== undefined) {
    const why = problemText(problem, "the top level");
    throw invalid(`The field output_schema is not a usable JSON Schema: ${why}.`);
  }
  return { prompt, structured_output, output_schema };
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw invalid("The request body is empty; it must be a JSON object with a prompt.");
  try {
    return parseExactAt(new TextDecoder("utf-8", { fatal: true }).decode(bytes), "output_schema");
  } catch {
    throw invalid("The request body is not valid JSON in UTF-8.");
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): ServiceError {
  return new ServiceError("VALIDATION_ERROR", message);
}
