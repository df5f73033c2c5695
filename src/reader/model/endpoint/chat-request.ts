import { stringifyExact } from "../../../core/json/exact-json.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A request to a model, independent of the endpoint's capabilities. */
export interface ChatRequest {
  messages: readonly Message[];
  /** The schema of the reply. `name` is `[a-z_]+`. */
  schema: { name: string; schema: JsonSchema };
  /** The limit of the output, in tokens. */
  maxTokens: number;
}

/** The parameters that an endpoint accepts; a refused one is left out from then on. */
export interface Capabilities {
  format: "json_schema" | "json_object" | "text";
  limit: "max_tokens" | "max_completion_tokens";
  /** The highest output limit that the endpoint accepts, in tokens. */
  mostTokens: number;
  streamUsage: boolean;
  temperature: boolean;
}

/** The capabilities that are tried first. */
export const ALL_CAPABILITIES: Capabilities = {
  format: "json_schema",
  limit: "max_tokens",
  mostTokens: Number.POSITIVE_INFINITY,
  streamUsage: true,
  temperature: true,
};

/** Builds the body of a request, https://platform.openai.com/docs/api-reference/chat/create. */
export function buildBody(model: string, request: ChatRequest, capabilities: Capabilities): string {
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

/** Returns the UTF-8 length of the longest body that may be sent for a request, in bytes. */
export function countBytes(model: string, request: ChatRequest): number {
  return Buffer.byteLength(
    buildBody(model, request, { ...ALL_CAPABILITIES, limit: "max_completion_tokens" }),
  );
}

/** Matches `max_tokens is too large: 5000. This model supports at most 4096 completion tokens` and the like. */
const MOST_TOKENS =
  /max_(?:completion_)?tokens.*?(?:at most|maximum(?: of)?|up to|or equal to|<=|, )\s*(\d+)/is;

/**
 * Returns the capabilities without what a 400 or 422 complains about; undefined if nothing is left to drop.
 * `maxTokens` is the requested limit of the output.
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
