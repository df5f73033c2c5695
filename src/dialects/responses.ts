import type { Data, Operation } from "../protocol/conversation.js";
import { checkStrict, createAt, requestAt, requireSchema } from "./asking.js";
import type { Dialect, ServiceError } from "./dialect.js";
import {
  answerData,
  type Fields,
  fields,
  items,
  providerError,
  resultIn,
  salvageId,
  sourcesIn,
  text,
} from "./reading.js";

const PATH = "/v1/responses";

/** OpenAI: the Responses API in background mode. */
export function openai(defaultModel: string): Dialect {
  return {
    ...responses("openai", /^resp_/),
    create(body) {
      requireSchema("OpenAI", body);
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      if (schema) checkStrict("OpenAI", schema);
      const format = schema && { type: "json_schema", name: "result", schema, strict: true };
      const ours = {
        ...{ model, input: prompt, background: true, store: true, tools: [{ type: "web_search" }] },
        ...(after !== undefined && { previous_response_id: after }),
        ...(format && { text: { format } }),
      };
      return createAt("OpenAI", PATH, body, ours, ["previous_response_id"]);
    },
  };
}

/** Perplexity: the Agent API in background mode, which is the Responses API with other words for a schema and a model. */
export function perplexity(defaultModel: string): Dialect {
  return {
    // The form of its ids is not documented.
    ...responses("perplexity", /^resp_|^[0-9a-f]{8}-[0-9a-f]{4}-/),
    create(body) {
      requireSchema("Perplexity", body);
      const { prompt, model = defaultModel, output_schema: schema, after } = body;
      const json_schema = schema && { name: "result", schema, strict: true };
      const ours = {
        ...(model.includes("/") ? { model } : { preset: model }),
        ...{ input: prompt, background: true },
        ...(after !== undefined && { previous_response_id: after }),
        ...(json_schema && { response_format: { type: "json_schema", json_schema } }),
      };
      return createAt("Perplexity", PATH, body, ours, ["model", "preset", "previous_response_id"]);
    },
    fault(operation, httpStatus, answer) {
      const said = fault(operation, httpStatus, answer);
      if (said?.kind !== undefined || httpStatus !== 401) return said;
      // Its documentation has a 401 where others have a 402.
      const message = `${said?.message ?? "HTTP 401"} (the key is invalid, or the account has no credit)`;
      return { code: said?.code, message, kind: undefined };
    },
  };
}

function responses(name: string, shape: RegExp): Omit<Dialect, "create"> {
  return {
    name,
    keyHeader: ["authorization", "Bearer "],
    statusIsResult: true,
    mayLag: true,
    betweenPollsMs: 100,
    request: (operation, requestId) => requestAt(PATH, operation, requestId),
    probeId: "resp_0",
    fault,
    data,
    salvage: (torn) => salvageId(torn, "id|response_id", shape),
  };
}

function fault(operation: Operation, httpStatus: number, answer: unknown): ServiceError | undefined {
  const error = fields(fields(answer).error);
  const message = text(error.message);
  if (message === undefined) return undefined;
  const [code, type] = [text(error.code), text(error.type)];
  // OpenAI says `insufficient_quota` in the type, with another code beside it.
  const word = type === "insufficient_quota" ? type : (code ?? type);
  return providerError(operation, httpStatus, { code: word, message });
}

function data(operation: Operation, value: unknown): Data | string {
  const answer = fields(value);
  const { status, created_at: created } = answer;
  const id = answer.id ?? answer.response_id;
  if (operation === "create" && /^(?:req|msg)_/.test(String(id))) return "the answer has no id";
  const messages = items(answer.output).filter(({ type }) => type === "message");
  const parts = messages.flatMap(({ content }) => items(content));
  const searches = items(answer.output).filter(({ type }) => type === "search_results");
  const more = {
    output: resultIn(textIn(messages), isStructured(answer)),
    cost_dollars: costIn(answer),
    sources: sourcesIn([
      ...parts.flatMap(({ annotations }) => items(annotations)),
      ...searches.flatMap(({ results }) => items(results)),
    ]),
    stop_reason: text(fields(answer.incomplete_details).reason),
  };
  return answerData(operation, answer, { id, status, created }, more);
}

function textIn(messages: readonly Fields[]): string | undefined {
  const texts = messages.map(({ content }) =>
    items(content)
      .map((part) => (part.type === "output_text" && typeof part.text === "string" ? part.text : ""))
      .join(""),
  );
  return text(texts.filter(Boolean).join("\n\n"));
}

/** The answer repeats what was asked for. */
function isStructured(answer: Fields): boolean {
  const asked = [fields(answer.text).format, answer.response_format];
  return asked.some((format) => fields(format).type === "json_schema");
}

function costIn(answer: Fields): number | undefined {
  const { total_cost: cost, currency = "USD" } = fields(fields(answer.usage).cost);
  return typeof cost === "number" && currency === "USD" ? cost : undefined;
}
