import { withMember } from "../json/exact-json.js";
import { type CreateBody, isFinal } from "../protocol/conversation.js";
import type { Data } from "../protocol/data.js";
import type { Operation } from "../protocol/endpoints.js";
import type { Unsuccessful } from "./classify-response.js";
import { NoOutputError, OutcomeUnknownError, RefusedError } from "./errors.js";
import { FAULTS } from "./failure-policy.js";
import type { ClientOptions } from "./options.js";
import { retryDelay } from "./retry-delay.js";
import { Session } from "./session.js";
import type { Pace } from "./watch/poll-interval.js";
import type { WatchPorts } from "./watch/ports.js";
import type { WatchEvent, WatchOptions, WatchSource } from "./watch/types.js";
import { watch } from "./watch/watch.js";

/** §4.1 as answered, or as salvaged from an answer that was no success and confirmed by a status call. */
export type Created = Data & { request_id: string };
export type StatusData = Data & { status: string };

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Called with an id the moment it is known, before anything is made of the answer it stood in. */
  onRequestId?: (requestId: string, data: Data | undefined) => void;
}

/** A create that is interrupted gets this long, in milliseconds, to learn the id it paid for. */
const CREATE_GRACE_MS = 5_000;

/** Speaks to one service. Every method may throw the errors of errors.ts, or `signal.reason`. */
export class ResearchClient {
  readonly #session: Session;
  readonly #pace: Pace = { betweenMs: 0, nextStart: 0 };

  /** Opens nothing yet. Throws TypeError, BaseUrlError or ResearchError for options that cannot be used. */
  constructor(options: ClientOptions) {
    this.#session = new Session(options);
  }

  /** Scheme, host and port: what a key belongs to. */
  get origin(): string {
    return this.#session.origin;
  }

  /**
   * §4.1. Sent once; repeated only if it provably never left. Throws OutcomeUnknownError if it was sent
   * and nothing readable came back.
   */
  async create(body: CreateBody, { signal, onRequestId }: CreateOptions = {}): Promise<Created> {
    signal?.throwIfAborted();
    const request = await this.#session.createRequest(body);
    const limits = { signal, grace: CREATE_GRACE_MS };
    for (let failures = 1; ; failures++) {
      const { requestId, result } = await this.#session.create(request, limits);
      if (requestId !== undefined) {
        onRequestId?.(requestId, result.kind === "data" ? result.data : undefined);
        return result.kind === "data"
          ? withMember(result.data, "request_id", requestId)
          : await this.#confirm(requestId, result, signal);
      }
      if (result.kind === "data") throw new OutcomeUnknownError("the answer has no request id");
      const canRepeat = result.kind === "fault" && !result.sent && FAULTS[result.fault].create === "retry";
      await this.#pause("create", result, canRepeat ? failures : undefined, signal);
    }
  }

  /** §4.3. */
  async status(requestId: string, { signal }: CallOptions = {}): Promise<StatusData> {
    const { clock } = this.#session;
    const pace = await this.#paced();
    const waitMs = pace.nextStart - clock.monotonic();
    pace.nextStart = Math.max(pace.nextStart, clock.monotonic()) + pace.betweenMs;
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    return (await this.#read("status", requestId, signal)) as StatusData;
  }

  /**
   * §4.2. Where the service says no, or the answer is lost, the state is asked for: already STOPPED is success,
   * and then the data is that of the status answer.
   */
  async stop(requestId: string, { signal }: CallOptions = {}): Promise<StatusData> {
    signal?.throwIfAborted();
    for (let failures = 1; ; failures++) {
      const result = await this.#session.call("stop", requestId, { signal });
      if (result.kind === "data") return result.data as StatusData;
      signal?.throwIfAborted();
      const handling = stopHandling(result);
      if (handling === "ask" || handling === "ask-retry") {
        const state = await this.#stateAfterStop(result, requestId, signal);
        if (state?.status === "STOPPED") return state;
        // Who cannot even be asked has been tried often enough.
        if (!state) throw result.error;
      }
      const canRepeat = handling === "retry" || handling === "ask-retry";
      await this.#pause("stop", result, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /** §4.4. Where the service says no, the state is asked for and named: NoOutputError. */
  async output(requestId: string, { signal }: CallOptions = {}): Promise<Data> {
    try {
      return await this.#read("output", requestId, signal);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.kind === "unauthenticated" || error.kind === "rate-limited") throw error;
      const { status } = await this.status(requestId, { signal });
      throw new NoOutputError(status, error, requestId);
    }
  }

  /** Polls until every id is final or given up; ends with the generator, and with `signal`. */
  async *watch(source: WatchSource, options: WatchOptions = {}): AsyncGenerator<WatchEvent, void> {
    const { clock, random } = this.#session;
    const poll: WatchPorts["poll"] = (requestId, limits) => this.#session.call("status", requestId, limits);
    yield* watch({ clock, random, poll, pace: await this.#paced() }, source, options);
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    await this.#session.close();
  }

  async #paced(): Promise<Pace> {
    this.#pace.betweenMs = (await this.#session.dialect()).betweenPollsMs;
    return this.#pace;
  }

  async #read(
    operation: "status" | "output",
    requestId: string,
    signal: AbortSignal | undefined,
  ): Promise<Data> {
    signal?.throwIfAborted();
    return await this.#repeatRead(operation, requestId, signal);
  }

  async #repeatRead(
    operation: "status" | "output",
    requestId: string,
    signal: AbortSignal | undefined,
    grace = 0,
  ): Promise<Data> {
    for (let failures = 1; ; failures++) {
      const result = await this.#session.call(operation, requestId, { signal, grace });
      if (result.kind === "data") return result.data;
      const canRepeat = result.kind === "fault" && FAULTS[result.fault].read === "retry";
      await this.#pause(operation, result, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /** A salvaged id counts as created once the service knows it; where it says no, by the answer it stood in. */
  async #confirm(requestId: string, result: Unsuccessful, signal: AbortSignal | undefined): Promise<Created> {
    let isUnknown = false;
    try {
      return withMember(
        await this.#repeatRead("status", requestId, signal, CREATE_GRACE_MS),
        "request_id",
        requestId,
      );
    } catch (error) {
      isUnknown = error instanceof RefusedError;
    }
    if (result.kind === "refused" && (isUnknown || isRateLimit(result))) throw result.error;
    const { error } = result;
    const detail = error instanceof OutcomeUnknownError ? error.detail : error.message;
    throw new OutcomeUnknownError(detail, { ...error, requestId });
  }

  /** The state after a stop that did not say; undefined if that cannot be learnt. */
  async #stateAfterStop(
    result: Unsuccessful,
    requestId: string,
    signal: AbortSignal | undefined,
  ): Promise<StatusData | undefined> {
    let state: StatusData;
    try {
      state = await this.status(requestId, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (result.kind === "fault" && error instanceof RefusedError) throw error;
      return undefined;
    }
    if (result.kind === "fault" && isFinal(state.status) && state.status !== "STOPPED") {
      const message = `${requestId} is ${state.status} and cannot be stopped any more`;
      throw new RefusedError("refused", false, "NOT_ALLOWED", message, { requestId });
    }
    return state;
  }

  /** Waits before try `failures + 1`, or throws the error if no try is left (`failures` undefined, or used up). */
  async #pause(
    operation: Operation,
    { error }: Unsuccessful,
    failures: number | undefined,
    signal: AbortSignal | undefined,
    requestId?: string,
  ): Promise<void> {
    const waitMs =
      failures === undefined ? undefined : retryDelay(failures, error.retryAfter, this.#session.random());
    // An interrupted create must still report its outcome, so only what may be repeated ends here.
    if (failures !== undefined || operation !== "create") signal?.throwIfAborted();
    if (waitMs === undefined) throw error;
    this.#session.emit({ kind: "retry", operation, requestId, waitMs, error });
    await this.#session.clock.sleep(waitMs, signal);
  }
}

/** What a stop does about an answer that is not the one hoped for. */
function stopHandling(result: Unsuccessful): "fail" | "retry" | "ask" | "ask-retry" {
  if (result.kind === "fault")
    return result.sent ? FAULTS[result.fault].stop : unsent(FAULTS[result.fault].stop);
  // §7: the code for stopping a FAILED or STOPPED conversation is not shown, so any refusal may be that.
  const { kind, enveloped } = result.error;
  return enveloped && (kind === "refused" || kind === "invalid-input") ? "ask" : "fail";
}

/** A 429 created nothing, whatever else stands in it. */
function isRateLimit(result: Unsuccessful): boolean {
  return result.kind === "refused" && result.error.kind === "rate-limited";
}

/** A stop that never left needs no question about what it did. */
function unsent<T extends string>(handling: T): T | "retry" {
  return handling === "ask-retry" ? "retry" : handling;
}
