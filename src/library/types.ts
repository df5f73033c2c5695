/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions, Created, StatusData } from "../client/calls/client.js";
import type { ResearchError } from "../client/calls/errors.js";
import type { WatchEvent, WatchOptions } from "../client/calls/watch/types.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { JsonSchema } from "../core/protocol/conversation.js";

/** The settings. Absent ones come from the environment, the profile in use or the defaults, as for the research command. */
export interface OpenOptions {
  profile?: string;
  baseUrl?: string;
  /** The provider: openai, perplexity, exa, parallel, gemini or tavily. Without a base URL its own address is used. */
  provider?: string;
  /** Allow plain http to another machine. */
  insecureHttp?: boolean;
  /** Timeout of one HTTP request in milliseconds; default 30,000. */
  requestTimeout?: number;
  /** Creates allowed per hour, by the tier of the key or as a number; counted by this machine's own records. */
  tier?: "free" | "pro" | "enterprise";
  perHour?: number;
  /** Creates allowed in 24 hours; the smallest of this, RESEARCH_PER_DAY and the profile's `per-day` applies. */
  perDay?: number;
  /** Default: `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** A research request. */
export interface ResearchRequest {
  prompt: string;
  /** Paths of files whose text is sent before the prompt. */
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
  /** The service's response, unchanged. */
  data: Created;
  /** Why the id could not be recorded; then this object has the only copy. */
  notSaved: Error | undefined;
}

/** The part of https://standardschema.dev that is used here. */
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
  /** The schema that parses the result and gives it its type. */
  schema?: StandardSchema<Output>;
}

export interface SubmitOptions extends CallOptions {
  /** Whether to wait for the hour instead of failing when its creates are used up. Default: false. */
  waitForQuota?: boolean;
}

export interface RunOptions<Output> extends OutputOptions<Output>, SubmitOptions {
  /** Timeout in milliseconds after the create. Then it rejects with the code TIMEOUT, and the research continues. */
  timeout?: number;
  /** Called as soon as the request exists, and awaited. */
  onCreated?: (submission: Submission) => void | Promise<void>;
}

export interface CheckReportOptions extends CallOptions {
  /** The maximum number of pages to read; default 100. */
  pages?: number;
  /** Timeout in milliseconds, default 600,000; pages not read by then are unreadable. */
  timeoutMs?: number;
  /** Whether hosts that the report names may have a private address. Default: false. */
  allowPrivate?: boolean;
  /** The model that judges each sentence by its page. */
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
  /** The price of a million tokens, in dollars. */
  price?: { input: number; output: number };
  /** Called with the usage of the check; never gets the key. */
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

/** Filters the list: at most `limit` requests, in this state. */
export interface ListOptions {
  limit?: number;
  status?: string;
}

/** One question of a batch. The key names its file, and distinguishes it from others with the same prompt. */
export interface BatchRequest extends ResearchRequest {
  key?: string;
}

export type BatchRequests = Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>;

export interface BatchOptions extends CallOptions {
  /** The folder for the results. The same batch with the same folder resumes. */
  out: string;
  /** Timeout of each row in milliseconds. */
  timeout?: number;
  retryFailed?: boolean;
}

export type BatchEvent =
  /** The state of a row changed. `file` is the path of its result. */
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
  /** No more creates are sent; running requests are watched until they end. */
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
  /** Fetches the result of a COMPLETED request. Rejects with NoOutputError, or with SchemaMismatchError if `schema` refuses it. */
  output<Output = unknown>(id: string, options?: OutputOptions<Output>): Promise<Output>;
  /**
   * `submit`, `watch` and `output` in one. Rejects with a ResearchError that names the request if it ended otherwise,
   * and with AbortedError if it was aborted once the request existed.
   */
  run<Output = unknown>(request: ResearchRequest | string, options?: RunOptions<Output>): Promise<Output>;
  /** Checks the result of a COMPLETED request against the pages that it cites. */
  check(id: string, options?: CheckReportOptions): Promise<CheckOutcome>;
  /** Stops requests, one after the other. Rejects with the first error. */
  stop(ids: string | readonly string[], options?: CallOptions): Promise<StatusData[]>;
  /** Lists the requests that this machine created: unknown outcomes first, then the newest. */
  list(options?: ListOptions): Promise<ListedRequest[]>;
  /** Sends many requests within the hourly limit and writes every result to a folder. */
  batch(requests: BatchRequests, options: BatchOptions): AsyncGenerator<BatchEvent, void>;
  /** Ends pending operations and closes the connections, so that the process can exit. `await using` calls it. */
  close(): Promise<void>;
}
