import { stringifyExact } from "../../../core/json/exact-json.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A request to a model, independent of what the endpoint supports. */
export interface ChatRequest {
  messages: readonly Message[];
  /** The JSON schema of the reply. `name` must match `[a-z_]+`. */
  schema: { name: string; schema: JsonSchema };
  /** The limit of the output, in tokens. */
  maxTokens: number;
}

/** The parameters that an endpoint accepts. After it has refused one, later requests omit that. */
export interface Capabilities {
  format: "json_schema" | "json_object" | "text";
  limit: "max_tokens" | "max_completion_tokens";
  /** The highest output limit that the endpoint accepts, in tokens. */
  mostTokens: number;
  streamUsage: boolean;
  temperature: boolean;
}

/** The capabilities to assume until the endpoint refuses a parameter. */
export const ALL_CAPABILITIES: Capabilities = {
  format: "json_schema",
  limit: "max_tokens",
  mostTokens: Number.POSITIVE_INFINITY,
  streamUsage: true,
  temperature: true,
};

/** Builds the body of a request; see https://platform.openai.com/docs/api-reference/chat/create. */
export function buildChatBody(model: string, request: ChatRequest, capabilities: Capabilities): string {
  const { messages, schema, maxTokens } = request;
  const { format, limit, mostTokens, streamUsage, temperature } = capabilities;
  return stringifyExact({
    model,
    messages,
    stream: true,
    ...(streamUsage && { stream_options: { include_usage: true } }),
    ...(temperature && { temperature: 0 }),
    ...(format !== "text" && {
      response_format: { type: format, ...(format === "json_schema" && { json_schema: schema }) },
    }),
    [limit]: Math.min(maxTokens, mostTokens),
  });
}

/** Returns the size of the longest body that may be sent for a request, in UTF-8 bytes. */
export function countBodyBytes(model: string, request: ChatRequest): number {
  return Buffer.byteLength(
    buildChatBody(model, request, { ...ALL_CAPABILITIES, limit: "max_completion_tokens" }),
  );
}

/** Matches the limit in messages such as `max_tokens is too large: 5000. This model supports at most 4096 completion tokens`. */
const MOST_TOKENS =
  /max_(?:completion_)?tokens.*?(?:at most|maximum(?: of)?|up to|or equal to|<=|, )\s*(\d+)/is;

/**
 * Returns the capabilities without the one that the message of a 400 or 422 is about; undefined if none is left to drop.
 * `maxTokens` is the output limit of the refused request.
 */
export function reduceCapabilities(
  capabilities: Capabilities,
  complaint: string,
  maxTokens: number,
): Capabilities | undefined {
  const mostTokens = Number(MOST_TOKENS.exec(complaint)?.[1]);
  if (mostTokens > 0 && mostTokens < Math.min(maxTokens, capabilities.mostTokens))
    return { ...capabilities, mostTokens };
  if (capabilities.limit === "max_tokens" && complaint.includes("max_completion_tokens"))
    return { ...capabilities, limit: "max_completion_tokens" };
  if (capabilities.streamUsage && /stream_options|include_usage/.test(complaint))
    return { ...capabilities, streamUsage: false };
  if (capabilities.temperature && complaint.includes("temperature"))
    return { ...capabilities, temperature: false };
  if (capabilities.format === "json_schema") return { ...capabilities, format: "json_object" };
  return capabilities.format === "json_object" ? { ...capabilities, format: "text" } : undefined;
}
