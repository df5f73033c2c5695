import { addFirstMember } from "../../core/json/exact-json.js";
import { type CreateBody, type Data, isFinal, type Operation } from "../../core/protocol/conversation.js";
import { hasNoResult, isResultCutShort } from "../dialects/providers.js";
import type { Unsuccessful } from "./classify-response.js";
import type { ClientOptions } from "./client-options.js";
import {
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  type ResearchError,
  UnreachableError,
} from "./errors.js";
import { computeRetryDelay, FAULTS, NEW_REQUEST_MS } from "./failure-policy.js";
import { ServiceSession } from "./service-session.js";
import type { WatchContext } from "./watch/watch-requests.js";
import type { WatchEvent, WatchOptions, WatchSource } from "./watch/watch-types.js";

/** The data of the answer to a create call (§4.1). If only an id was readable, the data of the status call that confirmed it. */
export type Created = Data & { request_id: string };
export type StatusData = Data & { status: string };

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface StatusOptions extends CallOptions {
  /** Epoch ms at which this machine created the request. For a minute after that, a provider may still answer 404. */
  recordedAt?: number | undefined;
}

export interface FetchOutputOptions extends StatusOptions {
  /** Whether to return a result that was cut short, instead of throwing NoOutputError. */
  partial?: boolean | undefined;
}

interface StopOptions extends CallOptions {
  /** Called with each state that the service reports during the stop. */
  onState?: (state: StatusData) => void;
}

export interface CreateOptions extends CallOptions {
  /** Called with the id as soon as it is known, before the rest of the answer is processed. */
  onRequestId?: (requestId: string, data: Data | undefined) => void;
}

/** How long (ms) an interrupted create call still waits for the id, because the user pays for the request. */
const CREATE_GRACE_MS = 5_000;

/** A client of one service. Every method may throw the errors of errors.ts, or `signal.reason`. */
export class ResearchClient {
  readonly #session: ServiceSession;

  /** Creates a client without opening a connection. Throws TypeError, BaseUrlError or ResearchError for invalid options. */
  constructor(options: ClientOptions) {
    this.#session = new ServiceSession(options);
  }

  /** The service's scheme, host and port: the origin for which the key is valid. */
  get origin(): string {
    return this.#session.origin;
  }

  /** Creates a request (§4.1). Repeats the call only if nothing was sent. Throws OutcomeUnknownError if no readable answer came. */
  async create(body: CreateBody, { signal, onRequestId }: CreateOptions = {}): Promise<Created> {
    signal?.throwIfAborted();
    const request = await this.#session.createRequest(body);
    const limits = { signal, grace: CREATE_GRACE_MS };
    for (let failures = 1; ; failures++) {
      await this.#turn(signal);
      const { requestId, result } = await this.#session.create(request, limits);
      if (requestId !== undefined) {
        onRequestId?.(requestId, result.kind === "data" ? result.data : undefined);
        return result.kind === "data"
          ? addFirstMember(result.data, "request_id", requestId)
          : await this.#confirm(requestId, result, signal);
      }
      if (result.kind === "data") throw new OutcomeUnknownError("the answer has no request id");
      const canRepeat = result.kind === "fault" && !result.sent && FAULTS[result.fault].create === "retry";
      await this.#pause("create", result.error, canRepeat ? failures : undefined, signal);
    }
  }

  /** Checks a body without sending it. Rejects with ResearchError `USAGE` if the service does not support the request. */
  async check(body: CreateBody): Promise<void> {
    await this.#session.createRequest(body);
  }

  /** Reads the state of a request (§4.3). */
  async status(requestId: string, { signal, recordedAt }: StatusOptions = {}): Promise<StatusData> {
    await this.#turn(signal, "status");
    return (await this.#read("status", requestId, { signal, recordedAt })) as StatusData;
  }

  /** Stops a request (§4.2). Reads the state after a refusal or a lost answer; a request that is already STOPPED is a success. */
  async stop(requestId: string, options: StopOptions = {}): Promise<StatusData> {
    const { signal } = options;
    signal?.throwIfAborted();
    for (let failures = 1; ; failures++) {
      await this.#turn(signal);
      const result = await this.#session.call("stop", requestId, { signal });
      if (result.kind === "data") return requireStopped(result.data as StatusData, requestId, options);
      signal?.throwIfAborted();
      const handling = decideAfterFailedStop(result);
      if (handling === "ask" || handling === "ask-retry") {
        const state = await this.#readStateAfterStop(result, requestId, options);
        if (state?.status === "STOPPED") return state;
        // The status call has already made its own retries, so do not repeat the stop.
        if (!state) throw result.error;
      }
      const canRepeat = handling === "retry" || handling === "ask-retry";
      await this.#pause("stop", result.error, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /** Fetches the output (§4.4). If the service refuses, reads the state and throws NoOutputError with that state. */
  async output(
    requestId: string,
    { signal, recordedAt, partial = false }: FetchOutputOptions = {},
  ): Promise<Data> {
    signal?.throwIfAborted();
    const { statusIsResult, mayLag } = await this.#session.loadDialect();
    if (statusIsResult) {
      const data = await this.status(requestId, { signal, recordedAt });
      if (data.status === "COMPLETED" || (partial && isResultCutShort(data))) return data;
      throw this.createNoOutputError(data, requestId);
    }
    for (let failures = 1; ; failures++) {
      try {
        const data = await this.#read("output", requestId, { signal });
        if (partial || !hasNoResult(data)) return data;
        throw this.createNoOutputError(data as StatusData, requestId);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        if (["unauthenticated", "rate-limited", "no-credit"].includes(error.kind)) throw error;
        const state = await this.status(requestId, { signal, recordedAt });
        // Parallel answers 404 or 408 for a result that is not ready yet.
        const isLate = mayLag && state.status === "COMPLETED";
        const missing =
          isLate || !mayLag
            ? new NoOutputError(state.status, error, requestId)
            : NoOutputError.of(state, requestId);
        this.#session.removeKey(missing);
        await this.#pause("output", missing, isLate ? failures : undefined, signal, requestId);
      }
    }
  }

  /** Returns the error for a final state without a result; its message says why and hides the key. */
  createNoOutputError(data: StatusData, requestId: string): NoOutputError {
    return this.#session.removeKey(NoOutputError.of(data, requestId));
  }

  /** Polls until every id is final or given up. Ends early if the generator is closed or `signal` aborts. */
  async *watch(source: WatchSource, options: WatchOptions = {}): AsyncGenerator<WatchEvent, void> {
    const { watchRequests } = await import("./watch/watch-requests.js");
    const { clock, random } = this.#session;
    const poll: WatchContext["poll"] = (...asked) => this.#session.call("status", ...asked);
    yield* watchRequests({ clock, random, poll, pace: await this.#session.loadPace() }, source, options);
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await this.#session.close();
  }

  /** Waits until a request may start. Polls always wait for their turn, other requests only if the service limits all requests together. */
  async #turn(signal: AbortSignal | undefined, operation?: "status"): Promise<void> {
    const { clock } = this.#session;
    const pace = await this.#session.loadPace();
    if (operation === "status" || pace.pacesAll) await pace.waitForTurn(clock, signal);
    signal?.throwIfAborted();
  }

  async #read(
    operation: "status" | "output",
    requestId: string,
    { signal, recordedAt = Number.NEGATIVE_INFINITY, grace = 0 }: StatusOptions & { grace?: number },
  ): Promise<Data> {
    const { mayLag } = await this.#session.loadDialect();
    for (let failures = 1; ; failures++) {
      const answer = await this.#session.call(operation, requestId, { signal, grace });
      if (answer.kind === "data") return answer.data;
      const age = Math.abs(this.#session.clock.now() - recordedAt);
      const result = mayLag ? makeRefusalRetryable(answer, age) : answer;
      const canRepeat = result.kind === "fault" && FAULTS[result.fault].read === "retry";
      await this.#pause(operation, result.error, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /**
   * Reads the state of an id in an unsuccessful answer to a create call. If the service knows the id, the request
   * exists. Throws the refusal only if the interface does not know the id; at a provider the outcome stays unknown.
   */
  async #confirm(
    requestId: string,
    { error }: Unsuccessful,
    signal: AbortSignal | undefined,
  ): Promise<Created> {
    const { mayLag } = await this.#session.loadDialect();
    const limits = { signal, recordedAt: this.#session.clock.now(), grace: CREATE_GRACE_MS };
    try {
      return addFirstMember(await this.#read("status", requestId, limits), "request_id", requestId);
    } catch (failure) {
      const isMissing = failure instanceof RefusedError && failure.kind === "not-found" && failure.enveloped;
      if (isMissing && !mayLag && error instanceof RefusedError) throw error;
    }
    const detail = error instanceof OutcomeUnknownError ? error.detail : error.message;
    throw new OutcomeUnknownError(detail, { ...error, requestId });
  }

  /** Reads the state after a stop without a clear answer; undefined if that fails, too. */
  async #readStateAfterStop(
    result: Unsuccessful,
    requestId: string,
    options: StopOptions,
  ): Promise<StatusData | undefined> {
    let state: StatusData;
    try {
      state = await this.status(requestId, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (result.kind === "fault" && error instanceof RefusedError) throw error;
      return undefined;
    }
    if (result.kind === "fault") return requireStopped(state, requestId, options);
    options.onState?.(state);
    return state;
  }

  /** Waits before attempt `failures + 1`. Throws `error` if `failures` is undefined or no attempt is left. */
  async #pause(
    operation: Operation,
    error: ResearchError,
    failures: number | undefined,
    signal: AbortSignal | undefined,
    requestId?: string,
  ): Promise<void> {
    const waitMs =
      failures === undefined
        ? undefined
        : computeRetryDelay(failures, error.retryAfter, this.#session.random());
    // An interrupted create call must still report its outcome, so abort here only if the request may be repeated.
    if (failures !== undefined || operation !== "create") signal?.throwIfAborted();
    if (waitMs === undefined) throw error;
    this.#session.emit({ kind: "retry", operation, requestId, waitMs, error });
    await this.#session.clock.sleep(waitMs, signal);
  }
}

/** Returns what to do after an unsuccessful answer to a stop. */
function decideAfterFailedStop(result: Unsuccessful): "fail" | "retry" | "ask" | "ask-retry" {
  if (result.kind === "fault") {
    const { stop } = FAULTS[result.fault];
    // If the stop was never sent, the state need not be read.
    return stop === "ask-retry" && !result.sent ? "retry" : stop;
  }
  // §7 does not document the code for stopping a FAILED or STOPPED conversation, so any refusal may mean that.
  const { kind, enveloped } = result.error;
  return enveloped && (kind === "refused" || kind === "invalid-input") ? "ask" : "fail";
}

/** Turns a refusal that may be temporary into a fault, so that it is retried: a 404 in the minute after the create call, or Gemini's 403. */
function makeRefusalRetryable(result: Unsuccessful, ageMs: number): Unsuccessful {
  if (result.kind === "fault" || !result.error.enveloped) return result;
  const { kind } = result.error;
  const limitMs = kind === "withheld" ? Number.POSITIVE_INFINITY : kind === "not-found" ? NEW_REQUEST_MS : 0;
  if (ageMs >= limitMs) return result;
  const { code, message } = result.error;
  return {
    kind: "fault",
    fault: "unreadable",
    sent: true,
    error: new UnreachableError(code, message, result.error),
  };
}

/** Returns the data of an accepted stop. Throws RefusedError if the request has already completed or failed. */
function requireStopped(data: StatusData, requestId: string, { onState }: StopOptions): StatusData {
  onState?.(data);
  if (!isFinal(data.status) || data.status === "STOPPED") return data;
  const message = `${requestId} is ${data.status} and cannot be stopped any more`;
  throw new RefusedError("refused", true, "NOT_ALLOWED", message, { requestId });
}
