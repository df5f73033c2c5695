import { findMemberText } from "../../core/json/exact-json.js";
import type { JsonSchema } from "../../core/protocol/conversation.js";
import { buildCreateRequest, buildRequestAt, createSchemaError, PROVIDER } from "./build-request.js";
import { type Dialect, InputError } from "./dialect.js";
import {
  buildAnswerData,
  classifyProviderError,
  readFields,
  readItems,
  readNumberedSources,
  readText,
  salvageId,
} from "./read-response.js";

const PATH = "/research";

/** Creates the dialect of Tavily's research tasks, which support neither stop nor follow-up. Their errors have no codes. */
export function createTavily(defaultModel: string): Dialect {
  return {
    name: "tavily",
    keyHeader: ["authorization", "Bearer "],
    ...PROVIDER,
    create(body) {
      const { prompt: input, model = defaultModel, output_schema } = body;
      if (body.after !== undefined)
        throw new InputError(
          "Tavily does not support follow-ups",
          "Leave out --after, and put the context into the question.",
        );
      if (output_schema) checkSchema(output_schema);
      return buildCreateRequest("Tavily", PATH, body, { input, model, output_schema });
    },
    request(operation, requestId) {
      if (operation === "stop") return undefined;
      const request = buildRequestAt(PATH, operation, requestId);
      return { ...request, path: `${request.path}?include_usage=true` };
    },
    probeId: "00000000-0000-0000-0000-000000000000",
    fault(operation, httpStatus, value, retryAfter) {
      const { detail } = readFields(value);
      const message =
        readText(readFields(detail).error) ?? readText(detail) ?? readText(readItems(detail)[0]?.msg);
      return classifyProviderError(operation, httpStatus, { code: undefined, message, retryAfter });
    },
    data(operation, value) {
      const answer = readFields(value);
      const { request_id: id, status, created_at: created } = answer;
      const sources = readNumberedSources(readItems(answer.sources));
      const output = answer.content === null ? undefined : findMemberText(answer, "content");
      const more = { output, sources: sources.length > 0 ? sources : undefined };
      return buildAnswerData(operation, answer, { id, status, created }, more);
    },
    salvage: (torn) => salvageId(torn, "request_id", /^[0-9a-f]{8}-[0-9a-f]{4}-/),
  };
}

const TYPES = ["object", "string", "integer", "number", "array"];

/** Throws InputError with the keyword if Tavily would refuse the schema with a 400. */
function checkSchema(schema: JsonSchema): void {
  const { properties, required } = schema;
  if (typeof properties !== "object" || properties === null)
    throw createError("properties", "the top level must have properties");
  checkProperties(properties);
  if (!Array.isArray(required) || required.length === 0)
    throw createError("required", "it must name at least one property");
}

function checkProperties(properties: unknown): void {
  for (const [name, value] of Object.entries(readFields(properties))) {
    const property = readFields(value);
    if (readText(property.description) === undefined)
      throw createError("description", `the property ${JSON.stringify(name)} must have one`);
    for (let part = property; ; part = readFields(part.items)) {
      if (!TYPES.some((type) => type === part.type))
        throw createError("type", `the type of ${JSON.stringify(name)} must be one of ${TYPES.join(", ")}`);
      checkProperties(part.properties);
      if (part.items === undefined) break;
    }
  }
}

function createError(keyword: string, why: string): InputError {
  return createSchemaError("Tavily", keyword, why);
}
