import { checkStrict, createAt } from "./asking.js";
import { type Dialect, InputError } from "./dialect.js";
import { items } from "./reading.js";
import { PATH, responses } from "./responses.js";

/** OpenAI: the Responses API in background mode. */
export function openai(defaultModel: string): Dialect {
  return {
    ...responses("openai", /^resp_/),
    create(body) {
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      if (schema) checkStrict("OpenAI", schema);
      const format = schema && { type: "json_schema", name: "result", schema, strict: true };
      const { store, tools, ...options } = body.options ?? {};
      if (tools !== undefined && !items(tools).some(({ type }) => type === "web_search"))
        throw new InputError(
          '"tools" at OpenAI is a list, with a tool of the type web_search in it',
          `As in --set 'tools=[{"type":"web_search"}]'.`,
        );
      // Any other value is refused below.
      const kept = store === undefined || store === false ? options : { ...options, store };
      const ours = {
        ...{ model, input: prompt, background: true, store: store !== false },
        tools: tools ?? [{ type: "web_search" }],
        previous_response_id: after,
        ...(format && { text: { format } }),
      };
      return createAt("OpenAI", PATH, { ...body, options: kept }, ours);
    },
  };
}
