/// <reference lib="esnext.disposable" preserve="true" />

import type { ResearchError } from "../client/calls/errors.js";
import type { CallOptions, Created, StatusData } from "../client/calls/research-client.js";
import type { WatchEvent, WatchOptions } from "../client/calls/watch/watch-types.js";
import type { CheckOutcome } from "../core/protocol/check-outcome.js";
import type { JsonSchema } from "../core/protocol/conversation.js";

/** The settings. Missing ones come from the environment, the profile in use or the defaults, as for the research command. */
export interface OpenOptions {
  profile?: string;
  baseUrl?: string;
  /** The provider: openai, perplexity, exa, parallel, gemini or tavily. Without a base URL, the provider's own is used. */
  provider?: string;
  /** Whether to allow plain http to another machine. */
  insecureHttp?: boolean;
  /** The timeout of one HTTP request, ms; default 30,000. */
  requestTimeout?: number;
  /** The tier of the key, which determines how many requests may be created per hour (or `perHour`), counted by this machine's history. */
  tier?: "free" | "pro" | "enterprise";
  perHour?: number;
  /** The limit of create requests in 24 hours. The smallest of this, RESEARCH_PER_DAY and the profile's `per-day` applies. */
  perDay?: number;
  /** The environment variables to read; default `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** A research request. */
export interface ResearchRequest {
  prompt: string;
  /** Paths of files whose text is sent before the prompt. */
  context?: readonly string[];
  /** A JSON Schema for the result. */
  schema?: JsonSchema;
  /** The provider's model, preset, processor or effort. Only for a provider. */
  model?: string;
  /** Top-level fields of the provider's own request. Only for a provider. */
  options?: Record<string, unknown>;
}

/** A request that was created. */
export interface Submission {
  requestId: string;
  /** The id of the request in the history; undefined if the history is off. */
  localId: string | undefined;
  /** The service's response, unchanged. */
  data: Created;
  /** Why the id could not be recorded; if set, this object has the only copy of the id. */
  notSaved: Error | undefined;
}

/** The part of https://standardschema.dev that the library uses. */
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

/** A problem of a value. A step of the path is a name or an index, or an object with one of them. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface OutputOptions<Output> extends CallOptions {
  /** The schema that parses the result and determines its type. */
  schema?: StandardSchema<Output>;
}

export interface SubmitOptions extends CallOptions {
  /** Whether to wait if the hourly limit is used up, instead of failing. Default: false. */
  waitForQuota?: boolean;
}

export interface RunOptions<Output> extends OutputOptions<Output>, SubmitOptions {
  /** The longest wait after the request was created, ms. Then `run` rejects with the code TIMEOUT, and the research continues. */
  timeout?: number;
  /** Called as soon as the request exists. `run` waits for it. */
  onCreated?: (submission: Submission) => void | Promise<void>;
}

export interface CheckReportOptions extends CallOptions {
  /** The most pages to read; default 100. */
  pages?: number;
  /** The time limit, ms; default 600,000. Pages that are not read by then count as unreadable. */
  timeoutMs?: number;
  /** Whether the hosts of cited pages may have private addresses. Default: false. */
  allowPrivate?: boolean;
  /** The model that judges each sentence with its page; without one, no sentence is judged. */
  model?: ReportModel;
}

/** A model at an OpenAI-compatible endpoint. The limits are for one report, by default those of `--depth standard`. */
export interface ReportModel {
  name: string;
  /** The address of the endpoint, such as `http://127.0.0.1:11434/v1`. */
  url: string;
  apiKey?: string;
  tokens?: number;
  calls?: number;
  timeMs?: number;
  /** The price in dollars per million tokens. */
  price?: { input: number; output: number };
  /** Called with the model's usage when the check ends. */
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
  /** Null if it is not known whether the request was created. */
  requestId: string | null;
  status: string;
  createdAt: string | null;
  sentAt: string;
  origin: string;
  prompt: string;
}

/** A filter: at most `limit` requests, and only those in the state `status`. */
export interface ListOptions {
  limit?: number;
  status?: string;
}

/** One question of a batch. The key names the file of the result, and distinguishes questions with the same prompt. */
export interface BatchRequest extends ResearchRequest {
  key?: string;
}

export type BatchRequests = Iterable<BatchRequest | string> | AsyncIterable<BatchRequest | string>;

export interface BatchOptions extends CallOptions {
  /** The folder for the results. If the same batch runs again with this folder, it resumes. */
  out: string;
  /** The timeout of each row, ms. */
  timeout?: number;
  retryFailed?: boolean;
}

export type BatchEvent =
  /** The state of a row has changed. `file` is the path of the row's result. */
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
  /** No create request is sent before `until`, epoch ms. */
  | { kind: "waiting-for-quota"; until: number }
  | { kind: "trouble"; error: ResearchError }
  | { kind: "recovered" }
  /** No more create requests are sent. Running requests are still watched until they end. */
  | { kind: "creates-stopped"; error: unknown };

/**
 * The research command as a library, with the settings and the history of this machine. Every method may reject with
 * `signal.reason`, or with a ResearchError, whose `code` is the service's or one of those that the command shows.
 */
export interface Research extends AsyncDisposable {
  /** Creates a request, and records it on disk before sending it. Never repeat a call that rejected with OutcomeUnknownError. */
  submit(request: ResearchRequest | string, options?: SubmitOptions): Promise<Submission>;
  /** Polls until every request has ended, was given up or has timed out. Ids may be prefixes, or `@last`. */
  watch(
    ids: string | readonly string[],
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent | { kind: "not-observed"; requestId: string; error: Error }, void>;
  /** Fetches the result of a COMPLETED request. Rejects with NoOutputError, or with SchemaMismatchError if `schema` rejects the result. */
  output<Output = unknown>(id: string, options?: OutputOptions<Output>): Promise<Output>;
  /**
   * Calls `submit`, `watch` and `output` in turn. Rejects with a ResearchError that names the request if it did not end
   * COMPLETED, and with AbortedError if it was aborted after the request was created.
   */
  run<Output = unknown>(request: ResearchRequest | string, options?: RunOptions<Output>): Promise<Output>;
  /** Checks the result of a COMPLETED request against the pages that it cites. */
  check(id: string, options?: CheckReportOptions): Promise<CheckOutcome>;
  /** Stops requests, one after the other. If some fail, stops the others and then rejects with the first error. */
  stop(ids: string | readonly string[], options?: CallOptions): Promise<StatusData[]>;
  /** Lists the requests that this machine created: those with an unknown outcome first, then the newest first. */
  list(options?: ListOptions): Promise<ListedRequest[]>;
  /** Sends many requests within the hourly limit and writes every result to a folder. */
  batch(requests: BatchRequests, options: BatchOptions): AsyncGenerator<BatchEvent, void>;
  /** Aborts pending operations and closes the connections, so that the process can exit. `await using` calls it. */
  close(): Promise<void>;
}
