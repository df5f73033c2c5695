import { findMemberText } from "../../core/json/exact-json.js";
import type { JsonSchema } from "../../core/protocol/conversation.js";
import {
  buildCreateRequest,
  buildStatusOrStopRequest,
  createSchemaError,
  PROVIDER,
} from "./build-request.js";
import { classifyProviderError } from "./classify-provider-error.js";
import { type Dialect, InputError } from "./dialect.js";
import {
  buildAnswerData,
  readNonBlank,
  readNumberedSources,
  readObject,
  readObjects,
  salvageId,
} from "./read-response.js";

const PATH = "/research";

/** Creates the dialect of Tavily's research tasks, which support neither stop nor follow-up. Their errors have no codes. */
export function createTavilyDialect(defaultModel: string): Dialect {
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
      if (output_schema) checkTavilySchema(output_schema);
      return buildCreateRequest("Tavily", PATH, body, { input, model, output_schema });
    },
    request(operation, requestId) {
      if (operation === "stop") return undefined;
      const request = buildStatusOrStopRequest(PATH, operation, requestId);
      return { ...request, path: `${request.path}?include_usage=true` };
    },
    probeId: "00000000-0000-0000-0000-000000000000",
    fault(operation, httpStatus, value, retryAfter) {
      const { detail } = readObject(value);
      const message =
        readNonBlank(readObject(detail).error) ??
        readNonBlank(detail) ??
        readNonBlank(readObjects(detail)[0]?.msg);
      return classifyProviderError(operation, httpStatus, { code: undefined, message, retryAfter });
    },
    data(operation, value) {
      const answer = readObject(value);
      const { request_id: id, status, created_at: created } = answer;
      const sources = readNumberedSources(readObjects(answer.sources));
      const output = answer.content === null ? undefined : findMemberText(answer, "content");
      const more = { output, sources: sources.length > 0 ? sources : undefined };
      return buildAnswerData(operation, answer, { id, status, created }, more);
    },
    salvage: (torn) => salvageId(torn, "request_id", /^[0-9a-f]{8}-[0-9a-f]{4}-/),
  };
}

const TYPES = ["object", "string", "integer", "number", "array"];

/** Throws InputError with the keyword if Tavily would refuse the schema with a 400. */
function checkTavilySchema(schema: JsonSchema): void {
  const { properties, required } = schema;
  if (typeof properties !== "object" || properties === null)
    throw refuseSchema("properties", "the top level must have properties");
  checkSchemaProperties(properties);
  if (!Array.isArray(required) || required.length === 0)
    throw refuseSchema("required", "it must name at least one property");
}

function checkSchemaProperties(properties: unknown): void {
  for (const [name, value] of Object.entries(readObject(properties))) {
    const property = readObject(value);
    if (readNonBlank(property.description) === undefined)
      throw refuseSchema("description", `the property ${JSON.stringify(name)} must have one`);
    for (let part = property; ; part = readObject(part.items)) {
      if (!TYPES.some((type) => type === part.type))
        throw refuseSchema("type", `the type of ${JSON.stringify(name)} must be one of ${TYPES.join(", ")}`);
      checkSchemaProperties(part.properties);
      if (part.items === undefined) break;
    }
  }
}

function refuseSchema(keyword: string, why: string): InputError {
  return createSchemaError("Tavily", keyword, why);
}
