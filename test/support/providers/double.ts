import { answer, type Behaviour } from "../behaviours.js";
import { type FaultServer, type FaultServerOptions, faultServer } from "../fault-server.js";
import type { Operation, SeenRequest } from "../request-reader.js";
import { bodyProblem, type ProviderName } from "./bodies.js";

export const KEY = "pk-test-sentinel-4242";

/** A request as a double holds it. `words` are the states that its polls see, the last one stays. */
export interface Run {
  id: string;
  body: Record<string, unknown>;
  words: string[];
  polls: number;
}

export interface DoubleOptions extends FaultServerOptions {
  /** Something else than the good answer, for some requests. */
  fault?: (operation: Operation, nth: number, request: SeenRequest) => Behaviour | undefined;
  /** The result of a completed run; default a sentence about the prompt, or an object if a schema was asked for. */
  result?: (prompt: string) => unknown;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  answer({ status, headers, body: JSON.stringify(body) });

/** Words of each provider, and what it answers: written from `providers.md`, not from the dialects. */
interface Shape {
  prefix: string;
  words: readonly [queued: string, running: string, completed: string];
  cancelled: string;
  keyOf(headers: SeenRequest["headers"]): string | undefined;
  prompt(body: Record<string, unknown>): string;
  schema(body: Record<string, unknown>): unknown;
  /** The answer about a run in a state. */
  run(run: Run, word: string, result: unknown): Record<string, unknown>;
  error(status: number, code: string, message: string): unknown;
  /** What the cancel of a running run answers; undefined: there is no cancel. */
  cancel?(run: Run): Record<string, unknown>;
}

const AT = 1_893_456_000;
const bearer = (headers: SeenRequest["headers"]) => /^Bearer (.*)$/.exec(headers.authorization ?? "")?.[1];

const SOURCES = [
  { url: "https://a.example/one", title: "One" },
  { url: "https://b.example/two", title: "Two" },
];

function responsesRun({ id, body }: Run, word: string, result: unknown) {
  const hasText = word === "completed" || word === "incomplete";
  const annotations = SOURCES.map((source) => ({
    type: "url_citation",
    ...source,
    start_index: 0,
    end_index: 1,
  }));
  const text = typeof result === "string" ? result : JSON.stringify(result);
  return {
    id,
    object: "response",
    created_at: AT,
    status: word,
    background: true,
    model: body.model ?? "the-model",
    error: word === "failed" ? { code: "server_error", message: "The model broke." } : null,
    incomplete_details: word === "incomplete" ? { reason: "max_output_tokens" } : null,
    previous_response_id: body.previous_response_id ?? null,
    text: body.text ?? { format: { type: "text" } },
    output: hasText
      ? [
          { type: "reasoning", id: "rs_1", summary: [] },
          { type: "web_search_call", id: "ws_1", status: "completed" },
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            content: [{ type: "output_text", text, annotations }],
          },
        ]
      : [],
    usage: hasText ? { input_tokens: 1_000, output_tokens: 200, total_tokens: 1_200 } : null,
  };
}

const responsesShape = {
  prefix: "resp_",
  words: ["queued", "in_progress", "completed"],
  cancelled: "cancelled",
  keyOf: bearer,
  prompt: (body) => String(body.input),
  schema: ({ text }) => (text as { format?: { schema?: unknown } } | undefined)?.format?.schema,
  run: responsesRun,
  error: (_status, code, message) => ({
    error: { message, type: "invalid_request_error", param: null, code },
  }),
} as const satisfies Partial<Shape>;

export const SHAPES: Record<ProviderName, Shape> = {
  openai: { ...responsesShape, cancel: (run) => responsesRun(run, "cancelled", "") },
  perplexity: {
    ...responsesShape,
    schema: ({ response_format: format }) =>
      (format as { json_schema?: { schema?: unknown } } | undefined)?.json_schema?.schema,
    run: (run, word, result) => {
      const base = responsesRun(run, word, result);
      const found = {
        type: "search_results",
        results: SOURCES.map((source) => ({ ...source, snippet: "s" })),
      };
      return {
        ...base,
        text: undefined,
        response_format: run.body.response_format,
        output: base.output.length > 0 ? [found, ...base.output.slice(2)] : [],
        usage: base.usage && { ...base.usage, cost: { total_cost: 0.42, currency: "USD" } },
      };
    },
    cancel: ({ id }) => ({ response_id: id, status: "cancelling" }),
  },
  exa: {
    prefix: "agent_run_",
    words: ["queued", "running", "completed"],
    cancelled: "cancelled",
    keyOf: (headers) => headers["x-api-key"],
    prompt: (body) => String(body.query),
    schema: (body) => body.outputSchema,
    run: ({ id, body }, word, result) => ({
      id,
      object: "agent_run",
      status: word,
      createdAt: new Date(AT * 1_000).toISOString(),
      request: { query: body.query, effort: body.effort },
      stopReason: word === "completed" ? "schema_satisfied" : word === "failed" ? "error" : null,
      output:
        word === "completed"
          ? {
              text: typeof result === "string" ? result : JSON.stringify(result),
              structured: typeof result === "string" ? null : result,
              grounding: [{ field: "x", citations: SOURCES, confidence: "high" }],
            }
          : null,
      costDollars: { total: 0.42 },
    }),
    error: (_status, tag, error) => ({ requestId: "req_1", error, tag }),
    cancel: (run) => SHAPES.exa.run(run, "cancelled", ""),
  },
  parallel: {
    prefix: "trun_",
    words: ["queued", "running", "completed"],
    cancelled: "cancelled",
    keyOf: (headers) => headers["x-api-key"],
    prompt: (body) => String(body.input),
    schema: ({ task_spec: spec }) =>
      (spec as { output_schema?: { json_schema?: unknown } } | undefined)?.output_schema?.json_schema,
    run: ({ id, body }, word) => ({
      run_id: id,
      interaction_id: `trun_inter_${id.slice(5)}`,
      status: word,
      is_active: word === "queued" || word === "running",
      warnings: null,
      error: word === "failed" ? { ref_id: "r", message: "The run broke." } : null,
      processor: body.processor,
      created_at: new Date(AT * 1_000).toISOString(),
      modified_at: new Date(AT * 1_000).toISOString(),
    }),
    error: (_status, _code, message) => ({ type: "error", error: { ref_id: "r", message, detail: null } }),
  },
};

/** A service that speaks like a provider: states by the number of polls. A prompt that ends in `=> a b` names them. */
export class ProviderDouble {
  readonly runs = new Map<string, Run>();
  /** What was wrong with create bodies; a good client has none. */
  readonly problems: string[] = [];
  readonly provider: ProviderName;
  readonly server: FaultServer;
  readonly #options: DoubleOptions;
  #count = 0;

  private constructor(provider: ProviderName, server: FaultServer, options: DoubleOptions) {
    this.provider = provider;
    this.server = server;
    this.#options = options;
    server.script(
      (operation, nth, request) =>
        this.#options.fault?.(operation, nth, request) ?? this.#act(operation, request),
    );
  }

  static async start(provider: ProviderName, options: DoubleOptions = {}): Promise<ProviderDouble> {
    const server = await faultServer(() => json(503, {}), options);
    return new ProviderDouble(provider, server, options);
  }

  get url(): string {
    return this.server.url;
  }

  /** What a program needs to speak to it. */
  get env(): Record<string, string> {
    return { RESEARCH_BASE_URL: this.url, RESEARCH_PROVIDER: this.provider, RESEARCH_API_KEY: KEY };
  }

  /** A run that was not created over HTTP. Returns its id. */
  add(body: Record<string, unknown>): string {
    const { prefix, words, prompt } = SHAPES[this.provider];
    const id = `${prefix}${String(++this.#count).padStart(4, "0")}${"abcdef".repeat(6)}`;
    const states = /=>\s*(.+)$/.exec(prompt(body))?.[1]?.split(/\s+/) ?? [...words];
    this.runs.set(id, { id, body, words: states, polls: 0 });
    return id;
  }

  /** A good answer of an operation, as data, about a run in a state. */
  answerAbout(id: string, word: string): Record<string, unknown> {
    const run = this.runs.get(id) as Run;
    const shape = SHAPES[this.provider];
    return shape.run(run, word, this.#result(run));
  }

  #result(run: Run): unknown {
    const shape = SHAPES[this.provider];
    const prompt = shape.prompt(run.body);
    return (
      this.#options.result?.(prompt) ??
      (shape.schema(run.body) ? { answer: prompt } : `An answer to: ${prompt}`)
    );
  }

  #act(operation: Operation, request: SeenRequest): Behaviour {
    return {
      act: async (socket) => {
        await this.#reply(operation, request).act(socket, request);
      },
    };
  }

  #reply(operation: Operation, request: SeenRequest): Behaviour {
    const shape = SHAPES[this.provider];
    if (shape.keyOf(request.headers) !== KEY)
      return json(401, shape.error(401, "invalid_api_key", "Incorrect API key provided: pk-te***4242."));
    if (operation === "create") {
      const body = JSON.parse(request.body.toString("utf8")) as Record<string, unknown>;
      const problem = bodyProblem(this.provider, body);
      if (problem) {
        this.problems.push(problem);
        return json(this.provider === "parallel" ? 422 : 400, shape.error(400, "invalid_request", problem));
      }
      const id = this.add(body);
      const run = this.runs.get(id) as Run;
      return json(this.provider === "parallel" ? 202 : 200, shape.run(run, shape.words[0], ""));
    }
    const id = /(?:responses|runs)\/([^/?]+)/.exec(decodeURIComponent(request.path))?.[1] ?? "";
    const run = this.runs.get(id);
    if (!run) return json(404, shape.error(404, "not_found", `No run ${id}.`));
    if (operation === "stop") return this.#cancel(run);
    if (operation === "status") run.polls++;
    const word = wordOf(run);
    if (operation === "status") return json(200, shape.run(run, word, this.#result(run)));
    if (word === "failed") return json(404, shape.error(404, "", "No result."));
    if (word !== "completed") return json(408, shape.error(408, "", "The run is still active."));
    const result = this.#result(run);
    const basis = [{ field: "output", reasoning: "r", confidence: "high", citations: SOURCES }];
    const output = { type: typeof result === "string" ? "text" : "json", content: result, basis };
    return json(200, { run: shape.run(run, word, ""), output });
  }

  #cancel(run: Run): Behaviour {
    const shape = SHAPES[this.provider];
    const word = wordOf(run);
    const isOver = ["completed", "failed", "cancelled", "incomplete"].includes(word);
    if (!shape.cancel) return json(405, { detail: "Method Not Allowed" });
    // Perplexity refuses, the others answer the finished run.
    if (isOver && this.provider === "perplexity")
      return json(400, shape.error(400, "bad_request", `It is ${word}.`));
    if (isOver) return json(200, shape.run(run, word, this.#result(run)));
    const answered = shape.cancel(run);
    run.words = this.provider === "perplexity" ? [...run.words.slice(0, 1), "cancelled"] : ["cancelled"];
    return json(200, answered);
  }
}

/** Before the first poll it is what the first poll will see. */
function wordOf({ words, polls }: Run): string {
  return words[Math.min(Math.max(polls, 1), words.length) - 1] ?? "queued";
}
