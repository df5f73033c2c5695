import { buildCreateRequest, checkStrictSchema } from "./build-request.js";
import type { Dialect } from "./dialect.js";
import { readFields } from "./read-response.js";
import { createResponses, PATH } from "./responses.js";

/** An id that belongs to no response: a status request for it reads the list of models instead. */
const MODELS = "models";

/** Creates the dialect of OpenAI's Responses API in background mode. */
export function createOpenai(defaultModel: string): Dialect {
  const dialect = createResponses("openai", /^resp_/);
  return {
    ...dialect,
    modelsId: MODELS,
    request: (operation, requestId) =>
      operation === "status" && requestId === MODELS
        ? { method: "GET", path: "/v1/models", json: false }
        : dialect.request(operation, requestId),
    data(operation, answer) {
      const { object, data: models } = readFields(answer);
      return object === "list" ? { status: "valid", models } : dialect.data(operation, answer);
    },
    create(body) {
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      if (schema) checkStrictSchema("OpenAI", schema);
      const format = schema && { type: "json_schema", name: "result", schema, strict: true };
      const { store, ...options } = body.options ?? {};
      // `buildCreateRequest` refuses the option `store` with any other value.
      const requestOptions = store === undefined || store === false ? options : { ...options, store };
      const ours = {
        ...{ model, input: prompt, background: true, store: store !== false },
        ...(options.tools === undefined && { tools: [{ type: "web_search" }] }),
        previous_response_id: after,
        ...(format && { text: { format } }),
      };
      return buildCreateRequest("OpenAI", PATH, { ...body, options: requestOptions }, ours);
    },
  };
}
