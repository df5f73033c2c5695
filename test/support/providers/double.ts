import { answer, type Behaviour } from "../behaviours.js";
import { type FaultServer, type FaultServerOptions, faultServer } from "../fault-server.js";
import { answerAfter } from "../quiet.js";
import type { Operation, SeenRequest } from "../request-reader.js";
import {
  exaRun,
  geminiRun,
  openaiRun,
  parallelError,
  parallelResult,
  parallelRun,
  perplexityCancelled,
  perplexityRun,
  type Run,
  type Source,
  tavilyCreated,
  tavilyRun,
} from "./answers.js";
import { bodyProblem, type ProviderName } from "./bodies.js";

export const KEY = "pk-test-sentinel-4242";

export interface DoubleOptions extends FaultServerOptions {
  /** Something else than the good answer, for some requests. */
  fault?: (operation: Operation, nth: number, request: SeenRequest) => Behaviour | undefined;
  /** Something else than the good answer, for the creates of some prompts. */
  refuses?: (prompt: string, body: Readonly<Record<string, unknown>>) => Behaviour | undefined;
  /** Awaited before each answer; a request counts as come before it. */
  latency?: () => Promise<void>;
  /** The result of a completed run; default a sentence about the prompt, or an object if a schema was asked for. */
  result?: (prompt: string) => unknown;
  /** The states that the polls of a prompt see which names none; default: queued, running, completed. */
  words?: readonly string[];
  /** What its results cite. */
  sources?: readonly Source[];
  /** The key of its one account; default KEY. */
  key?: string;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  answer({ status, headers, body: JSON.stringify(body) });

/** Words of each provider, and what it answers: written from `providers.md`, not from the dialects. */
interface Shape {
  prefix: string;
  words: readonly [queued: string, running: string, completed: string];
  cancelled: string;
  /** The HTTP status of a create, if not 200. */
  created?: number;
  keyOf(headers: SeenRequest["headers"]): string | undefined;
  prompt(body: Record<string, unknown>): string;
  schema(body: Record<string, unknown>): unknown;
  /** The answer about a run in a state. */
  run(run: Run, word: string, result: unknown): object;
  error(status: number, code: string, message: string): unknown;
  /** What the cancel of a running run answers; undefined: there is no cancel. */
  cancel?(run: Run): object;
}

const bearer = (headers: SeenRequest["headers"]) => /^Bearer (.*)$/.exec(headers.authorization ?? "")?.[1];

const openaiError = (_status: number, code: string, message: string) => ({
  error: { message, type: "invalid_request_error", param: null, code },
});

/** What its field for a schema holds. */
function schemaIn(value: unknown, ...path: string[]): unknown {
  return path.reduce((found, name) => Object(found)[name], value);
}

export const SHAPES: Record<ProviderName, Shape> = {
  openai: {
    prefix: "resp_",
    words: ["queued", "in_progress", "completed"],
    cancelled: "cancelled",
    keyOf: bearer,
    prompt: (body) => String(body.input),
    schema: (body) => schemaIn(body, "text", "format", "schema"),
    run: openaiRun,
    error: openaiError,
    cancel: (run) => openaiRun(run, "cancelled", ""),
  },
  perplexity: {
    prefix: "resp_",
    words: ["queued", "in_progress", "completed"],
    cancelled: "cancelled",
    keyOf: bearer,
    prompt: (body) => String(body.input),
    schema: (body) => schemaIn(body, "response_format", "json_schema", "schema"),
    run: perplexityRun,
    error: openaiError,
    cancel: perplexityCancelled,
  },
  exa: {
    prefix: "agent_run_",
    words: ["queued", "running", "completed"],
    cancelled: "cancelled",
    keyOf: (headers) => headers["x-api-key"],
    prompt: (body) => String(body.query),
    schema: (body) => body.outputSchema,
    run: exaRun,
    error: (_status, tag, error) => ({ requestId: "req_1", error, tag }),
    cancel: (run) => exaRun(run, "cancelled", ""),
  },
  parallel: {
    prefix: "trun_",
    words: ["queued", "running", "completed"],
    cancelled: "cancelled",
    created: 202,
    keyOf: (headers) => headers["x-api-key"],
    prompt: (body) => String(body.input),
    schema: (body) => schemaIn(body, "task_spec", "output_schema", "json_schema"),
    run: parallelRun,
    error: (_status, _code, message) => parallelError(message),
  },
  gemini: {
    prefix: "v1_",
    words: ["queued", "in_progress", "completed"],
    cancelled: "cancelled",
    keyOf: (headers) => headers["x-goog-api-key"],
    prompt: (body) => String(body.input),
    schema: (body) => schemaIn(body, "response_format", "schema"),
    run: geminiRun,
    error: (status, code, message) =>
      status === 401
        ? {
            error: {
              ...{ code: 400, message: "API key not valid. Please pass a valid API key." },
              ...{ status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] },
            },
          }
        : { error: { code, message } },
  },
  tavily: {
    prefix: "5f0a3c1e-",
    words: ["pending", "in_progress", "completed"],
    cancelled: "failed",
    created: 201,
    keyOf: bearer,
    prompt: (body) => String(body.input),
    schema: (body) => body.output_schema,
    run: (run, word, result) =>
      run.polls === 0 && word === "pending" ? tavilyCreated(run) : tavilyRun(run, word, result),
    error: (_status, _code, message) => ({ detail: { error: message } }),
  },
};

/** A service that speaks like a provider: states by the number of polls. A prompt that ends in `=> a b` names them. */
export class ProviderDouble {
  readonly runs = new Map<string, Run>();
  /** What was wrong with create bodies; a good client has none. */
  readonly problems: string[] = [];
  readonly provider: ProviderName;
  readonly server: FaultServer;
  readonly options: DoubleOptions;
  #count = 0;

  private constructor(provider: ProviderName, server: FaultServer, options: DoubleOptions) {
    this.provider = provider;
    this.server = server;
    this.options = options;
    server.script((operation, nth, request) => {
      const behaviour = this.options.fault?.(operation, nth, request) ?? this.#act(operation, request);
      const { latency } = this.options;
      if (!latency) return behaviour;
      return { act: (socket) => answerAfter(latency()).then(() => behaviour.act(socket, request)) };
    });
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
    const digits = String(++this.#count).padStart(4, "0");
    const id = `${prefix}${digits}${this.provider === "tavily" ? "-4abc-8def-0123456789ab" : "abcdef".repeat(6)}`;
    const states = /=>\s*(.+)$/.exec(prompt(body))?.[1]?.split(/\s+/) ?? [...(this.options.words ?? words)];
    this.runs.set(id, { id, body, words: states, polls: 0, sources: this.options.sources });
    return id;
  }

  /** A good answer of an operation, as data, about a run in a state. */
  answerAbout(id: string, word: string): object {
    const run = this.runs.get(id) as Run;
    const shape = SHAPES[this.provider];
    return shape.run(run, word, this.#result(run));
  }

  #result(run: Run): unknown {
    const shape = SHAPES[this.provider];
    const prompt = shape.prompt(run.body);
    return (
      this.options.result?.(prompt) ??
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
    const isGemini = this.provider === "gemini";
    if (shape.keyOf(request.headers) !== (this.options.key ?? KEY))
      return json(
        isGemini ? 400 : 401,
        shape.error(401, "invalid_api_key", "Incorrect API key provided: pk-te***4242."),
      );
    if (operation === "create") {
      const body = JSON.parse(request.body.toString("utf8")) as Record<string, unknown>;
      const problem = bodyProblem(this.provider, body);
      if (problem) {
        this.problems.push(problem);
        return json(this.provider === "parallel" ? 422 : 400, shape.error(400, "invalid_request", problem));
      }
      const refusal = this.options.refuses?.(shape.prompt(body), body);
      if (refusal) return refusal;
      const id = this.add(body);
      const run = this.runs.get(id) as Run;
      return json(shape.created ?? 200, shape.run(run, shape.words[0], ""));
    }
    if (isGemini && /\/v1(?:beta)?\/models\?pageSize=1$/.test(request.path))
      return json(200, { models: [{ name: "m" }] });
    const id =
      /(?:responses|runs|interactions|research)\/([^/?]+)/.exec(decodeURIComponent(request.path))?.[1] ?? "";
    const run = this.runs.get(id);
    if (!run) return json(404, shape.error(404, "not_found", `No run ${id}.`));
    if (operation === "stop") return this.#cancel(run);
    if (operation === "status") run.polls++;
    const word = wordOf(run);
    const isLater = this.provider === "tavily" && ["pending", "in_progress"].includes(word);
    if (operation === "status") return json(isLater ? 202 : 200, shape.run(run, word, this.#result(run)));
    if (word === "failed") return json(404, shape.error(404, "", "No result."));
    if (word !== "completed") return json(408, shape.error(408, "", "The run is still active."));
    return json(200, parallelResult(run, word, this.#result(run)));
  }

  #cancel(run: Run): Behaviour {
    const shape = SHAPES[this.provider];
    const word = wordOf(run);
    const isOver = ["completed", "failed", "cancelled", "incomplete"].includes(word);
    if (this.provider === "gemini") return json(404, shape.error(404, "not_found", "Method not found."));
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
