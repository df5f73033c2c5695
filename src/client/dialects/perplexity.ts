import { createAt } from "./asking.js";
import type { Dialect } from "./dialect.js";
import { createResponses, PATH, readFault } from "./responses.js";

/** Perplexity: the Agent API in background mode, which is the Responses API with other words for a schema and a model. */
export function createPerplexity(defaultModel: string): Dialect {
  return {
    // The form of its ids is not documented.
    ...createResponses("perplexity", /^resp_|^[0-9a-f]{8}-[0-9a-f]{4}-/),
    create(body) {
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      const isModel = model.includes("/");
      const json_schema = schema && { name: "result", schema, strict: true };
      const ours = {
        // A model has a slash in its name, and an effort takes the place of a preset.
        model: isModel ? model : undefined,
        preset: isModel || body.options?.effort !== undefined ? undefined : model,
        ...{ input: prompt, background: true, previous_response_id: after },
        ...(json_schema && { response_format: { type: "json_schema", json_schema } }),
      };
      return createAt("Perplexity", PATH, body, ours);
    },
    fault(operation, httpStatus, answer, retryAfter) {
      const serviceError = readFault(operation, httpStatus, answer, retryAfter);
      if (serviceError?.kind !== undefined || httpStatus !== 401) return serviceError;
      // Its documentation has a 401 where others have a 402.
      const message = `${serviceError?.message ?? "HTTP 401"} (the key is invalid, or the account has no credit)`;
      return { code: serviceError?.code, message, kind: undefined };
    },
  };
}
