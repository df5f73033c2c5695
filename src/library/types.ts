/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions, Created, StatusData } from "../client/calls/client.js";
import type { ResearchError } from "../client/calls/errors.js";
import type { WatchEvent, WatchOptions } from "../client/calls/watch/types.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { JsonSchema } from "../core/protocol/conversation.js";

/** Which settings are in force; what is absent is as for the research command: environment, profile in use, default. */
export interface OpenOptions {
  profile?: string;
  baseUrl?: string;
  /** A provider that is spoken to directly: openai, perplexity, exa, parallel, gemini or tavily; at its own address without a base URL. */
  provider?: string;
  /** Allow plain http to another machine. */
  insecureHttp?: boolean;
  /** Milliseconds for one exchange; default 30,000. */
  requestTimeout?: number;
  /** Creates allowed per hour, by the tier of the key or as a number; counted by this machine's own records. */
  tier?: "free" | "pro" | "enterprise";
  perHour?: number;
  /** Creates allowed in 24 hours; of this, RESEARCH_PER_DAY and the profile's `per-day` the smallest holds. */
  perDay?: number;
  /** Default: `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** What is asked for. */
export interface ResearchRequest {
  prompt: string;
  /** Paths of files whose text stands before the prompt; the service gets it, too. */
  context?: readonly string[];
  /** A JSON Schema for the result. */
  schema?: JsonSchema;
  /** At a provider: the model, preset, processor or effort. */
  model?: string;
  /** At a provider: top-level fields of its own request. */
  options?: Record<string, unknown>;
}

/** A request that exists. */
export interface Submission {
  requestId: string;
  /** Its name in the history; undefined if the history is off. */
  localId: string | undefined;
  /** The service's answer as it is. */
  data: Created;
  /** Why the id could not be recorded: then this is the only copy. */
  notSaved: Error | undefined;
}

/** https://standardschema.dev, as far as it is used here. */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** A step of the path is a name or an index, or an object that holds one. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface OutputOptions<Output> extends CallOptions {
  /** What the result is parsed with; it gives the result its type. */
  schema?: StandardSchema<Output>;
}

export interface SubmitOptions extends CallOptions {
  /** Whether to wait for the hour instead of failing when its creates are used up. Default: false. */
  waitForQuota?: boolean;
}

export interface RunOptions<Output> extends OutputOptions<Output>, SubmitOptions {
  /** Milliseconds for the wait after the create; then it rejects with the code TIMEOUT, and the research goes on. */
  timeout?: number;
  /** Called as soon as the request exists, and awaited. */
  onCreated?: (submission: Submission) => void | Promise<void>;
}

export interface CheckReportOptions extends CallOptions {
  /** How many pages are read at most; default 100. */
  pages?: number;
  /** Milliseconds, default 600,000; what was not read by then is unreadable. */
  timeoutMs?: number;
  /** Whether hosts that the report names may have a private address. Default: false. */
  allowPrivate?: boolean;
  /** Has each sentence judged by its page. */
  model?: ReportModel;
}

/** A model at an OpenAI-compatible endpoint. The limits are for one report; their defaults are those of `--depth standard`. */
export interface ReportModel {
  name: string;
  /** As in `http://127.0.0.1:11434/v1`. */
  url: string;
  apiKey?: string;
  tokens?: number;
  calls?: number;
  timeMs?: number;
  /** What a million tokens cost, in dollars. */
  price?: { input: number; output: number };
  /** Told what the check has used; never with the key. */
  onUsage?: (usage: {
    calls: number;
    input_tokens: number;
    output_tokens: number;
    cost_dollars?: number;
  }) => void;
}

/** A request in the history of this machine. */
export interface ListedRequest {
  localId: string;
  /** Null for a create whose outcome is unknown. */
  requestId: string | null;
  status: string;
  createdAt: string | null;
  sentAt: string;
  origin: string;
  prompt: string;
}

/** Which requests are listed: at most `limit`, in this state. */
export interface ListOptions {
  limit?: number;
  status?: string;
}

/** One question of a batch. A key names its file, and tells it from others of the same prompt. */
export interface BatchRequest extends ResearchRequest {
  key?: string;
}

export type BatchRequests = Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>;

export interface BatchOptions extends CallOptions {
  /** The folder for the results. The same batch with the same folder goes on where it ended. */
  out: string;
  /** Milliseconds for each row. */
  timeout?: number;
  retryFailed?: boolean;
}

export type BatchEvent =
  /** A row has another state. `file` is the path of its result. */
  | {
      kind: "row";
      index: number;
      key: string | undefined;
      requestId: string | undefined;
      status: string | null;
      final: boolean;
      file: string | undefined;
      error: { code: string; message: string } | undefined;
    }
  /** No create is sent before `until`, epoch ms. */
  | { kind: "waiting-for-quota"; until: number }
  | { kind: "trouble"; error: ResearchError }
  | { kind: "recovered" }
  /** No more creates are sent; what runs is watched to its end. */
  | { kind: "creates-stopped"; error: unknown };

/**
 * The research command as a library: with the settings and the history of this machine. Every method may reject with a
 * ResearchError, whose `code` is the service's own or one of those that the command shows, or with `signal.reason`.
 */
export interface Research extends AsyncDisposable {
  /** Creates a request; it is recorded on the disk before it is sent. Never repeat one that rejected with OutcomeUnknownError. */
  submit(request: ResearchRequest | string, options?: SubmitOptions): Promise<Submission>;
  /** Polls until every request has ended, is given up or is out of time. Ids may be prefixes, or `@last`. */
  watch(
    ids: string | readonly string[],
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent | { kind: "not-observed"; requestId: string; error: Error }, void>;
  /** The result of a COMPLETED request. Rejects with NoOutputError, or with SchemaMismatchError if `schema` refuses it. */
  output<Output = unknown>(id: string, options?: OutputOptions<Output>): Promise<Output>;
  /**
   * `submit`, `watch` and `output` in one. Rejects with a ResearchError that names the request if it ended otherwise,
   * and with AbortedError if it was aborted once the request existed.
   */
  run<Output = unknown>(request: ResearchRequest | string, options?: RunOptions<Output>): Promise<Output>;
  /** Reads the pages that the result of a COMPLETED request cites, and looks in them for what it says. */
  check(id: string, options?: CheckReportOptions): Promise<CheckOutcome>;
  /** Stops requests, one after the other. Rejects with the first error. */
  stop(ids: string | readonly string[], options?: CallOptions): Promise<StatusData[]>;
  /** What this machine created: unknown outcomes first, then the newest first. */
  list(options?: ListOptions): Promise<ListedRequest[]>;
  /** Sends many requests under the hourly limit and keeps every result in a folder. */
  batch(requests: BatchRequests, options: BatchOptions): AsyncGenerator<BatchEvent, void>;
  /** Ends what is under way and closes the connections, so that the process can end. `await using` calls it. */
  close(): Promise<void>;
}
