import { buildCreateRequest, checkStrictSchema } from "./build-request.js";
import type { Dialect } from "./dialect.js";
import { createResponsesDialect, PATH } from "./responses-api.js";

/** Creates the dialect of OpenAI's Responses API in background mode. */
export function createOpenaiDialect(defaultModel: string): Dialect {
  return {
    ...createResponsesDialect("openai", /^resp_/),
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
