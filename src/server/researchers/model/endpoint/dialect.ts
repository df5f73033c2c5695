import { exactJson } from "../../../../json/exact-json.js";
import type { JsonSchema } from "../../../../protocol/conversation.js";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What a model is asked, whatever the endpoint understands. */
export interface ChatRequest {
  messages: readonly Message[];
  /** What the reply has to be. `name` is `[a-z_]+`. */
  schema: { name: string; schema: JsonSchema };
  /** Limit of the output, in tokens. */
  maxTokens: number;
}

/** Which of the parameters an endpoint takes; what it refuses is left out from then on. */
export interface Dialect {
  format: "json_schema" | "json_object" | "text";
  limit: "max_tokens" | "max_completion_tokens";
  /** The longest output that it takes a limit for, in tokens. */
  mostTokens: number;
  streamUsage: boolean;
  temperature: boolean;
}

/** What is tried first. */
export const FULL_DIALECT: Dialect = {
  format: "json_schema",
  limit: "max_tokens",
  mostTokens: Number.POSITIVE_INFINITY,
  streamUsage: true,
  temperature: true,
};

/** The body of a request, https://platform.openai.com/docs/api-reference/chat/create. */
export function bodyOf(model: string, request: ChatRequest, dialect: Dialect): string {
  const { messages, schema, maxTokens } = request;
  return exactJson({
    model,
    messages,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    ...(dialect.temperature && { temperature: 0 }),
    ...(dialect.format === "json_schema" && {
      response_format: { type: "json_schema", json_schema: schema },
    }),
    ...(dialect.format === "json_object" && { response_format: { type: "json_object" } }),
    [dialect.limit]: Math.min(maxTokens, dialect.mostTokens),
  });
}

/** The UTF-8 bytes of the longest body that a request may be sent as. */
export function bytesOf(model: string, request: ChatRequest): number {
  return Buffer.byteLength(bodyOf(model, request, { ...FULL_DIALECT, limit: "max_completion_tokens" }));
}

/** As in `max_tokens is too large: 5000. This model supports at most 4096 completion tokens`. */
const MOST_TOKENS =
  /max_(?:completion_)?tokens.*?(?:at most|maximum(?: of)?|up to|or equal to|<=|, )\s*(\d+)/is;

/**
 * The dialect without what a 400 or 422 complains about; undefined if there is nothing left to leave out.
 * `maxTokens` is the limit of the output that was asked for.
 */
export function simpler(dialect: Dialect, complaint: string, maxTokens: number): Dialect | undefined {
  const mostTokens = Number(MOST_TOKENS.exec(complaint)?.[1] ?? Number.NaN);
  if (mostTokens > 0 && mostTokens < Math.min(maxTokens, dialect.mostTokens))
    return { ...dialect, mostTokens };
  if (dialect.limit === "max_tokens" && /max_completion_tokens/.test(complaint))
    return { ...dialect, limit: "max_completion_tokens" };
  if (dialect.streamUsage && /stream_options|include_usage/.test(complaint))
    return { ...dialect, streamUsage: false };
  if (dialect.temperature && /temperature/.test(complaint)) return { ...dialect, temperature: false };
  if (dialect.format === "json_schema") return { ...dialect, format: "json_object" };
  return dialect.format === "json_object" ? { ...dialect, format: "text" } : undefined;
}
