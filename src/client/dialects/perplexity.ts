import { buildCreateRequest } from "./build-request.js";
import type { Dialect } from "./dialect.js";
import { createResponsesDialect, PATH, readResponsesError } from "./responses-api.js";

/** Creates the dialect of Perplexity's Agent API in background mode: a Responses API with other fields for schema and model. */
export function createPerplexityDialect(defaultModel: string): Dialect {
  return {
    // Perplexity does not document the form of its ids.
    ...createResponsesDialect("perplexity", /^resp_|^[0-9a-f]{8}-[0-9a-f]{4}-/),
    create(body) {
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      const isModel = model.includes("/");
      const json_schema = schema && { name: "result", schema, strict: true };
      const ours = {
        // A name with a slash is a model, any other name is a preset. An effort replaces the preset.
        model: isModel ? model : undefined,
        preset: isModel || body.options?.effort !== undefined ? undefined : model,
        ...{ input: prompt, background: true, previous_response_id: after },
        ...(json_schema && { response_format: { type: "json_schema", json_schema } }),
      };
      return buildCreateRequest("Perplexity", PATH, body, ours);
    },
    fault(operation, httpStatus, answer, retryAfter) {
      const serviceError = readResponsesError(operation, httpStatus, answer, retryAfter);
      if (serviceError?.kind !== undefined || httpStatus !== 401) return serviceError;
      // Perplexity also answers 401 if the account has no credit; other providers answer 402.
      const message = `${serviceError?.message ?? "HTTP 401"} (the key is invalid, or the account has no credit)`;
      return { code: serviceError?.code, message, kind: undefined };
    },
  };
}
