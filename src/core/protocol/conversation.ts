/** §3: all states of a conversation request. */
export const STATUSES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "STOPPED"] as const;

export type KnownStatus = (typeof STATUSES)[number];

/** A state as the service sent it. A state that §3 does not name is passed on unchanged. */
export type Status = KnownStatus | (string & {});

const FINAL: ReadonlySet<string> = new Set<KnownStatus>(["COMPLETED", "FAILED", "STOPPED"]);

/** Returns whether a conversation in this state never changes again (§3). An unknown state is not final. */
export function isFinal(status: Status): status is "COMPLETED" | "FAILED" | "STOPPED" {
  return FINAL.has(status);
}

/**
 * Matches a request id that is safe in a path and in a line of text. The interface documents no form (§2 has only UUID-shaped
 * examples); ids of providers and gateways may have colons and over 300 characters. Excludes `.` and `..`,
 * which `encodeURIComponent` does not change.
 */
const REQUEST_ID = /^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,511}$/;

/** Returns whether `value` is a well-formed request id. Callers check an id when it arrives and again before use. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && REQUEST_ID.test(value);
}

/** Removes the prefix that all ids of a provider share, so that ids differ from the first character on. */
export function stripIdPrefix(requestId: string): string {
  return requestId.replace(/^(?:resp|agent_run|trun|v1)_/, "");
}

/** A file that is sent before the question: base name, number of code points, and digest of its text. Records omit the text. */
export interface ContextFile {
  name: string;
  chars: number;
  sha256: string;
  text?: string;
}

/** §2, the body of a create request. The service has defaults for absent fields. The last three fields are only for providers. */
export interface CreateBody {
  /** The question, without the files of `context`. */
  prompt: string;
  context?: readonly ContextFile[];
  structured_output?: true;
  output_schema?: JsonSchema;
  /** A model, preset, processor, effort or agent, as the provider calls it. */
  model?: string;
  /** Top-level fields of the provider's own request body. */
  options?: Record<string, unknown>;
  /** The provider's id of the request that this one follows up on. */
  after?: string;
}

/** A JSON Schema as in §2. This layer does not interpret it. */
export type JsonSchema = Record<string, unknown>;

/** Builds the body of §2. A schema requires `structured_output: true`; without a schema and `structured`, neither field is sent. */
export function buildRequestBody(
  prompt: string,
  schema: CreateBody["output_schema"],
  structured: boolean,
): CreateBody {
  if (schema) return { prompt, structured_output: true, output_schema: schema };
  return structured ? { prompt, structured_output: true } : { prompt };
}

/** Composes the body to send. For each file, the prompt contains a line `## NAME`, the text and a line `---`; then the question. */
export function insertContextFiles({ context = [], ...body }: CreateBody): CreateBody {
  const files = context.map(({ name, text = "" }) => `## ${name}\n${text.replace(/\n?$/, "\n")}---\n`);
  return { ...body, prompt: files.join("") + body.prompt };
}

/** §2: the data of a successful envelope, unchanged, including unknown fields. */
export type Data = Record<string, unknown>;

/** §7: the error codes that the interface documents, with the HTTP status of each. */
export const SERVICE_CODES = {
  VALIDATION_ERROR: 400,
  INVALID_API_KEY: 401,
  RATE_LIMIT_EXCEEDED: 429,
  REQUEST_NOT_FOUND: 404,
  CONVERSATION_ALREADY_COMPLETED: 400,
} as const;

/** §9: the version in every path and in the envelopes of the local service. */
export const API_VERSION = "1.0.0";

export type Operation = "create" | "stop" | "status" | "output";

/** What §4.3 and §4.4 leave undocumented. Each is a setting of the same name in kebab case (`status-method`). */
export interface Gaps {
  /** §4.3 does not document the HTTP method. */
  statusMethod: string;
  /** §4.4 does not document the HTTP method. */
  outputMethod: string;
  /** §4.4 does not document the path. The request's id replaces `{request_id}`. */
  outputPath: string;
  /** §4.4 does not document the payload. This is the field of `data` that contains the result, if present. */
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
  /** The path below the base URL, beginning with a slash. */
  path: string;
  /** Whether to send `Content-Type: application/json`, which §4.1 and §4.2 require even without a body. */
  json: boolean;
}

/** §4.1: the only path with `conversations` in the plural. */
export const CREATE: HttpEndpoint = { method: "POST", path: "/api/v1/conversations", json: true };

/** Builds the endpoint of §4.2 to §4.4 for one request. The path contains `requestId`, so it must be well-formed (`isRequestId`). */
export function buildHttpEndpoint(
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
