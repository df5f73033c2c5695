import { checkStrict, createAt } from "./asking.js";
import type { Dialect } from "./dialect.js";
import { fields } from "./reading.js";
import { PATH, responses } from "./responses.js";

/** Asks for the list of models. No response has this id. */
const MODELS = "models";

/** OpenAI: the Responses API in background mode. */
export function openai(defaultModel: string): Dialect {
  const own = responses("openai", /^resp_/);
  return {
    ...own,
    modelsId: MODELS,
    request: (operation, requestId) =>
      operation === "status" && requestId === MODELS
        ? { method: "GET", path: "/v1/models", json: false }
        : own.request(operation, requestId),
    data(operation, answer) {
      const { object, data: models } = fields(answer);
      return object === "list" ? { status: "valid", models } : own.data(operation, answer);
    },
    create(body) {
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      if (schema) checkStrict("OpenAI", schema);
      const format = schema && { type: "json_schema", name: "result", schema, strict: true };
      const { store, ...options } = body.options ?? {};
      // Any other value is refused below.
      const kept = store === undefined || store === false ? options : { ...options, store };
      const ours = {
        ...{ model, input: prompt, background: true, store: store !== false },
        ...(options.tools === undefined && { tools: [{ type: "web_search" }] }),
        previous_response_id: after,
        ...(format && { text: { format } }),
      };
      return createAt("OpenAI", PATH, { ...body, options: kept }, ours);
    },
  };
}
