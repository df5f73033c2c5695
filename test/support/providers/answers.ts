/**
 * What each provider answers about a run in a state, written from `providers.md`, not from the dialects. test/sdk holds
 * these types to those of the official SDKs.
 */

/** A request as a double holds it. `words` are the states that its polls see, the last one stays. */
export interface Run {
  id: string;
  body: Record<string, unknown>;
  words: string[];
  polls: number;
  /** What its result cites; default SOURCES. */
  sources?: readonly Source[] | undefined;
}

/** A page that is cited: for a field of a structured result, or from one place of a text to another. */
export interface Source {
  url: string;
  title: string;
  field?: string;
  start_index?: number;
  end_index?: number;
}

export const AT = 1_893_456_000;
const TIME = new Date(AT * 1_000).toISOString();

export const SOURCES = [
  { url: "https://a.example/one", title: "One" },
  { url: "https://b.example/two", title: "Two" },
];

function annotationsOf(sources: readonly Source[] = SOURCES, end = 1) {
  return sources.map(({ url, title, start_index = 0, end_index = end }) => ({
    ...{ type: "url_citation" as const, url, title, start_index, end_index },
  }));
}

/** What is said of the sources of each field; of `field` where they name none. */
function fieldsOf(sources: readonly Source[] = SOURCES, field: string) {
  return sources.map((source) => ({
    ...{ field: source.field ?? field, confidence: "high" as const },
    citations: [{ url: source.url, title: source.title }],
  }));
}

/** A result as a model writes it. */
function textOf(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

type OpenAIWord = "queued" | "in_progress" | "completed" | "failed" | "incomplete" | "cancelled";

export function openaiRun({ id, body, sources }: Run, word: OpenAIWord, result: unknown) {
  const hasText = word === "completed" || word === "incomplete";
  const content = [
    { type: "output_text" as const, text: textOf(result), annotations: annotationsOf(sources) },
  ];
  const usage = {
    ...{ input_tokens: 1_000, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
    ...{ output_tokens: 200, output_tokens_details: { reasoning_tokens: 100 }, total_tokens: 1_200 },
  };
  return {
    id,
    object: "response" as const,
    created_at: AT,
    status: word,
    background: true,
    model: String(body.model ?? "the-model"),
    error: word === "failed" ? { code: "server_error" as const, message: "The model broke." } : null,
    incomplete_details: word === "incomplete" ? { reason: "max_output_tokens" as const } : null,
    previous_response_id: typeof body.previous_response_id === "string" ? body.previous_response_id : null,
    ...{ access_programs: null, instructions: null, metadata: {}, parallel_tool_calls: true },
    ...{ temperature: null, top_p: null, tool_choice: "auto" as const },
    tools: [{ type: "web_search" as const }],
    text: { format: formatOf(body.text) },
    output: hasText
      ? [
          { type: "reasoning" as const, id: "rs_1", summary: [] },
          {
            ...{ type: "web_search_call" as const, id: "ws_1", status: "completed" as const },
            action: { type: "search" as const, query: "w" },
          },
          {
            ...{ type: "message" as const, id: "msg_1", role: "assistant" as const, content },
            status: word,
          },
        ]
      : [],
    ...(hasText && { usage }),
  };
}

/** It repeats the format that was asked for. */
function formatOf(text: unknown) {
  const schema: Record<string, unknown> | undefined = Object(text).format?.schema;
  return schema
    ? { type: "json_schema" as const, name: "result", strict: true, schema }
    : { type: "text" as const };
}

type PerplexityWord = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "requires_action";

/** It repeats neither `text.format` nor `response_format`, and fills `output` while it runs. */
export function perplexityRun({ id, body, sources = SOURCES }: Run, word: PerplexityWord, result: unknown) {
  const results = sources.map(({ url, title }, index) => ({ url, title, id: index + 1, snippet: "s" }));
  const pages = sources.map(({ url, title }) => ({ url, title, snippet: "s" }));
  const work = [
    { type: "search_results" as const, queries: ["w"], results },
    { type: "fetch_url_results" as const, contents: pages },
  ];
  const content = [
    { type: "output_text" as const, text: textOf(result), annotations: annotationsOf(sources) },
  ];
  const message = {
    ...{ type: "message" as const, id: "msg_1", role: "assistant" as const },
    ...{ status: "completed" as const, content },
  };
  const cost = { total_cost: 0.42, input_cost: 0.2, output_cost: 0.22, currency: "USD" as const };
  return {
    id,
    object: "response" as const,
    created_at: AT,
    status: word,
    background: true,
    model: String(body.model ?? "the-model"),
    ...(word === "failed" && { error: { code: "server_error", message: "The model broke." } }),
    previous_response_id: typeof body.previous_response_id === "string" ? body.previous_response_id : null,
    output: word === "completed" ? [...work, message] : word === "in_progress" ? work : [],
    ...(word === "completed" && {
      usage: { input_tokens: 1_000, output_tokens: 200, total_tokens: 1_200, cost },
    }),
  };
}

/** Its cancel only begins. */
export function perplexityCancelled({ id }: Run) {
  return { response_id: id, status: "cancelling" as const };
}

type ExaWord = "queued" | "running" | "completed" | "failed" | "cancelled";

export function exaRun({ id, body, sources }: Run, word: ExaWord, result: unknown) {
  const grounding = fieldsOf(sources, "x");
  const output = { text: textOf(result), structured: typeof result === "string" ? null : result, grounding };
  const ended = { completed: "schema_satisfied", failed: "error", cancelled: "cancelled" } as const;
  return {
    id,
    object: "agent_run",
    status: word,
    createdAt: TIME,
    request: { query: body.query, effort: body.effort },
    stopReason: word === "queued" || word === "running" ? null : ended[word],
    output: word === "completed" ? output : null,
    costDollars: { total: 0.42 },
  };
}

type ParallelWord =
  | "queued"
  | "action_required"
  | "running"
  | "completed"
  | "failed"
  | "cancelling"
  | "cancelled";

export function parallelRun({ id, body }: Run, word: ParallelWord) {
  return {
    run_id: id,
    interaction_id: `trun_inter_${id.slice(5)}`,
    status: word,
    is_active: word === "queued" || word === "running",
    warnings: null,
    error: word === "failed" ? { ref_id: "r", message: "The run broke." } : null,
    processor: String(body.processor),
    ...{ created_at: TIME, modified_at: TIME },
  };
}

export function parallelError(message: string) {
  return { type: "error" as const, error: { ref_id: "r", message, detail: null } };
}

export function parallelResult(run: Run, word: ParallelWord, result: unknown) {
  const basis = fieldsOf(run.sources, "output").map((one) => ({ ...one, reasoning: "r" }));
  const content: Record<string, unknown> = { ...Object(result) };
  const output =
    typeof result === "string"
      ? { type: "text" as const, content: result, basis }
      : { type: "json" as const, content, basis };
  return { run: parallelRun(run, word), output };
}

type GeminiWord =
  | "queued"
  | "in_progress"
  | "requires_action"
  | "requires_continuation"
  | "completed"
  | "failed"
  | "cancelled"
  | "incomplete"
  | "budget_exceeded"
  | (string & {});

/** Addresses are often redirects, with the name of the host as title; offsets are in bytes. */
export function geminiRun({ id, body, sources }: Run, word: GeminiWord, result: unknown) {
  const hasText = word === "completed" || word === "incomplete" || word === "budget_exceeded";
  const redirect = {
    url: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC",
    title: "c.example",
  };
  const annotations = annotationsOf(sources ?? [...SOURCES, redirect], 2);
  const work = [
    { type: "google_search_call" as const, id: "call_1", arguments: { queries: ["w"] } },
    { type: "google_search_result" as const, call_id: "call_1", result: [] },
    { type: "url_context_call" as const, id: "call_2", arguments: { urls: SOURCES.map(({ url }) => url) } },
  ];
  const content = [{ type: "text" as const, text: textOf(result), annotations }];
  return {
    id,
    status: word,
    ...{ created: TIME, updated: TIME },
    agent: String(body.agent),
    ...(word === "failed" && { errors: [{ code: "internal", message: "The agent broke." }] }),
    ...(typeof body.previous_interaction_id === "string" && {
      previous_interaction_id: body.previous_interaction_id,
    }),
    steps: [
      ...(hasText || word === "in_progress" ? work : []),
      ...(hasText ? [{ type: "model_output" as const, content }] : []),
    ],
    ...(hasText && { usage: { total_tokens: 1_200, total_input_tokens: 1_000, total_output_tokens: 200 } }),
  };
}

export function tavilyCreated({ id, body }: Run) {
  return {
    ...{ request_id: id, created_at: TIME, status: "pending", input: String(body.input) },
    ...{ model: String(body.model), response_time: 0.4 },
  };
}

/** A failed one has no reason. */
export function tavilyRun({ id, sources: cited = SOURCES }: Run, word: string, result: unknown) {
  const base = { request_id: id, status: word, response_time: 1.2 };
  if (word !== "completed") return base;
  const sources = cited.map(({ url, title }) => ({ url, title, favicon: `${url}/favicon.ico` }));
  const value: Record<string, unknown> = { ...Object(result) };
  const content = typeof result === "string" ? result : value;
  return { ...base, created_at: TIME, content, sources, usage: { credits: 12 } };
}
