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
export function stripIdPrefix(requestId: string): string {
  return requestId.replace(/^(?:resp|agent_run|trun|v1)_/, "");
}

/** A file before a question: its base name, the code points of its text, and the digest of that. Records do not hold the text. */
export interface ContextFile {
  name: string;
  chars: number;
  sha256: string;
  text?: string;
}

/** §2, create request body: an absent field is one the service defaults. The last three are for providers only. */
export interface CreateBody {
  /** The question alone. */
  prompt: string;
  context?: readonly ContextFile[];
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
export function buildRequestBody(
  prompt: string,
  schema: CreateBody["output_schema"],
  structured: boolean,
): CreateBody {
  if (schema) return { prompt, structured_output: true, output_schema: schema };
  return structured ? { prompt, structured_output: true } : { prompt };
}

/** Makes the body that is sent: its prompt has for each file a line `## NAME`, the text and a line `---`, then the question. */
export function composeBody({ context = [], ...body }: CreateBody): CreateBody {
  const files = context.map(({ name, text = "" }) => `## ${name}\n${text.replace(/\n?$/, "\n")}---\n`);
  return { ...body, prompt: files.join("") + body.prompt };
}

/** §2: what an envelope of success holds, as the service gave it; unknown fields survive. */
export type Data = Record<string, unknown>;

/** §7: the error codes that the interface shows, with the HTTP status each comes with. */
export const SERVICE_CODES = {
  VALIDATION_ERROR: 400,
  INVALID_API_KEY: 401,
  RATE_LIMIT_EXCEEDED: 429,
  REQUEST_NOT_FOUND: 404,
  CONVERSATION_ALREADY_COMPLETED: 400,
} as const;

/** §9: the version that stands in every path, and the one the local service states in its envelopes. */
export const API_VERSION = "1.0.0";

export type Operation = "create" | "stop" | "status" | "output";

/** What §4.3 and §4.4 do not show. Each is a setting of the same name in kebab case (`status-method`). */
export interface Gaps {
  /** §4.3, HTTP method: not shown. */
  statusMethod: string;
  /** §4.4, HTTP method: not shown. */
  outputMethod: string;
  /** §4.4, path: not shown. `{request_id}` is replaced. */
  outputPath: string;
  /** §4.4, payload: not shown. The field of `data` that holds the result, if it is there. */
  outputField: string;
}

export const DEFAULT_GAPS: Gaps = {
  statusMethod: "GET",
  outputMethod: "GET",
  outputPath: "/api/v1/conversation/{request_id}/output",
  outputField: "output",
};

export interface HttpEndpoint {
  method: string;
  /** Path below the base URL, beginning with a slash. */
  path: string;
  /** §4.1, §4.2: `Content-Type: application/json` is required, with a body or without. */
  json: boolean;
}

/** §4.1. The only path with the plural. */
export const CREATE: HttpEndpoint = { method: "POST", path: "/api/v1/conversations", json: true };

/** §4.2 to §4.4 for one request. `requestId` must be well-formed (`isRequestId`): it stands in the path. */
export function buildEndpoint(
  operation: Exclude<Operation, "create">,
  requestId: string,
  gaps: Gaps = DEFAULT_GAPS,
): HttpEndpoint {
  const id = encodeURIComponent(requestId);
  switch (operation) {
    case "stop":
      return { method: "POST", path: `/api/v1/conversation/${id}/stop`, json: true };
    case "status":
      return { method: gaps.statusMethod, path: `/api/v1/conversation/${id}/status`, json: false };
    case "output":
      return { method: gaps.outputMethod, path: gaps.outputPath.replaceAll("{request_id}", id), json: false };
  }
}
