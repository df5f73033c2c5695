/** §3: every state of a conversation request. */
export const STATUSES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "STOPPED"] as const;

export type KnownStatus = (typeof STATUSES)[number];

/** A state as the service gave it. One that §3 does not name is passed on as it is. */
export type Status = KnownStatus | (string & {});

const FINAL: ReadonlySet<string> = new Set<KnownStatus>(["COMPLETED", "FAILED", "STOPPED"]);

/** Whether a conversation in this state never changes again (§3). An unknown state is not final. */
export function isFinal(status: Status): status is "COMPLETED" | "FAILED" | "STOPPED" {
  return FINAL.has(status);
}

/**
 * A request id that can safely stand in a path and a line of text. The service does not show a form (§2 has only
 * UUID-shaped examples); providers and gateways have some of over 300 characters, with colons. Never `.` or `..`,
 * which `encodeURIComponent` keeps.
 */
const REQUEST_ID = /^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,511}$/;

/** Whether `value` is a well-formed request id. Asked when one arrives and again when one is used. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && REQUEST_ID.test(value);
}

/** What of an id tells it from others: without the prefix that all ids of a provider have. */
export function ownPart(requestId: string): string {
  return requestId.replace(/^(?:resp|agent_run|trun)_/, "");
}

/** §2, create request body: an absent field is one the service defaults. The last three are for providers only. */
export interface CreateBody {
  prompt: string;
  structured_output?: true;
  output_schema?: JsonSchema;
  /** A model, preset, processor, effort or agent, as the provider calls it. */
  model?: string;
  /** Top-level fields of the provider's own request body. */
  options?: Record<string, unknown>;
  /** What the request follows up on: the id that the provider takes for it. */
  after?: string;
}

/** A JSON Schema as §2 carries it: an object that this layer does not look into. */
export type JsonSchema = Record<string, unknown>;

/** §2: `output_schema` goes together with `structured_output: true`; without either, neither field is sent. */
export function requestBody(
  prompt: string,
  schema: CreateBody["output_schema"],
  structured: boolean,
): CreateBody {
  if (schema) return { prompt, structured_output: true, output_schema: schema };
  return structured ? { prompt, structured_output: true } : { prompt };
}

/** §2: what an envelope of success holds, as the service gave it; unknown fields survive. */
export type Data = Record<string, unknown>;
