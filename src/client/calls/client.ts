import { setMember } from "../../core/json/exact-json.js";
import { type CreateBody, type Data, isFinal, type Operation } from "../../core/protocol/conversation.js";
import { hasNoResult, isCutShort } from "../dialects/providers.js";
import type { Unsuccessful } from "./classify-response.js";
import {
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  type ResearchError,
  UnreachableError,
} from "./errors.js";
import { FAULTS, NEW_REQUEST_MS, retryDelay } from "./failure-policy.js";
import type { ClientOptions } from "./options.js";
import { Session } from "./session.js";
import type { WatchEvent, WatchOptions, WatchSource } from "./watch/types.js";
import type { WatchPorts } from "./watch/watch.js";

/** §4.1 as answered, or as salvaged from an answer that was no success and confirmed by a status call. */
export type Created = Data & { request_id: string };
export type StatusData = Data & { status: string };

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface StatusOptions extends CallOptions {
  /** When it was created from here, epoch ms: a provider may answer 404 for a minute after that. */
  recordedAt?: number | undefined;
}

export interface FetchOutputOptions extends StatusOptions {
  /** Whether the text of a result that was cut short is taken for one. */
  partial?: boolean | undefined;
}

interface StopOptions extends CallOptions {
  /** Called with each state that an answer shows. */
  onState?: (state: StatusData) => void;
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

  /** Opens nothing yet. Throws TypeError, BaseUrlError or ResearchError for options that cannot be used. */
  constructor(options: ClientOptions) {
    this.#session = new Session(options);
  }

  /** Scheme, host and port: what a key belongs to. */
  get origin(): string {
    return this.#session.origin;
  }

  /** §4.1. Sent at most once. Throws OutcomeUnknownError if it was sent and nothing readable came back. */
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
          ? setMember(result.data, "request_id", requestId)
          : await this.#confirm(requestId, result, signal);
      }
      if (result.kind === "data") throw new OutcomeUnknownError("the answer has no request id");
      const canRepeat = result.kind === "fault" && !result.sent && FAULTS[result.fault].create === "retry";
      await this.#pause("create", result.error, canRepeat ? failures : undefined, signal);
    }
  }

  /** Rejects with ResearchError `USAGE` for what the service cannot be asked. Sends nothing. */
  async check(body: CreateBody): Promise<void> {
    await this.#session.createRequest(body);
  }

  /** §4.3. */
  async status(requestId: string, { signal, recordedAt }: StatusOptions = {}): Promise<StatusData> {
    await this.#turn(signal, "status");
    return (await this.#read("status", requestId, { signal, recordedAt })) as StatusData;
  }

  /** §4.2. On a refusal or a lost answer the state is asked for; already STOPPED is success. */
  async stop(requestId: string, options: StopOptions = {}): Promise<StatusData> {
    const { signal } = options;
    signal?.throwIfAborted();
    for (let failures = 1; ; failures++) {
      await this.#turn(signal);
      const result = await this.#session.call("stop", requestId, { signal });
      if (result.kind === "data") return readStoppedData(result.data as StatusData, requestId, options);
      signal?.throwIfAborted();
      const handling = stopHandling(result);
      if (handling === "ask" || handling === "ask-retry") {
        const state = await this.#readStateAfterStop(result, requestId, options);
        if (state?.status === "STOPPED") return state;
        // Who cannot even be asked has been tried often enough.
        if (!state) throw result.error;
      }
      const canRepeat = handling === "retry" || handling === "ask-retry";
      await this.#pause("stop", result.error, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /** §4.4. Where the service says no, the state is asked for and named: NoOutputError. */
  async output(
    requestId: string,
    { signal, recordedAt, partial = false }: FetchOutputOptions = {},
  ): Promise<Data> {
    signal?.throwIfAborted();
    const { statusIsResult, mayLag } = await this.#session.loadDialect();
    if (statusIsResult) {
      const data = await this.status(requestId, { signal, recordedAt });
      if (data.status === "COMPLETED" || (partial && isCutShort(data))) return data;
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
        // Parallel says 404 or 408 of a result that is not there yet.
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

  /** Returns the error that says, without the key, why an answer that shows the end holds no result. */
  createNoOutputError(data: StatusData, requestId: string): NoOutputError {
    return this.#session.removeKey(NoOutputError.of(data, requestId));
  }

  /** Polls until every id is final or given up; ends with the generator, and with `signal`. */
  async *watch(source: WatchSource, options: WatchOptions = {}): AsyncGenerator<WatchEvent, void> {
    const { watch } = await import("./watch/watch.js");
    const { clock, random } = this.#session;
    const poll: WatchPorts["poll"] = (...asked) => this.#session.call("status", ...asked);
    yield* watch({ clock, random, poll, pace: await this.#session.loadPace() }, source, options);
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    await this.#session.close();
  }

  /** Waits until a request may start: a poll anywhere, any other where the service counts all of them together. */
  async #turn(signal: AbortSignal | undefined, operation?: "status"): Promise<void> {
    const { clock } = this.#session;
    const pace = await this.#session.loadPace();
    if (operation === "status" || pace.pacesAll) await pace.takeTurn(clock, signal);
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
      const result = mayLag ? delayNotFound(answer, age) : answer;
      const canRepeat = result.kind === "fault" && FAULTS[result.fault].read === "retry";
      await this.#pause(operation, result.error, canRepeat ? failures : undefined, signal, requestId);
    }
  }

  /**
   * Asks for the state of an id that stood in an answer without success. If the service answers, the request was created.
   * A refusal stands only if the interface itself says that there is no such request; a provider may not know it yet.
   */
  async #confirm(
    requestId: string,
    { error }: Unsuccessful,
    signal: AbortSignal | undefined,
  ): Promise<Created> {
    const { mayLag } = await this.#session.loadDialect();
    const limits = { signal, recordedAt: this.#session.clock.now(), grace: CREATE_GRACE_MS };
    try {
      return setMember(await this.#read("status", requestId, limits), "request_id", requestId);
    } catch (failure) {
      const isMissing = failure instanceof RefusedError && failure.kind === "not-found" && failure.enveloped;
      if (isMissing && !mayLag && error instanceof RefusedError) throw error;
    }
    const detail = error instanceof OutcomeUnknownError ? error.detail : error.message;
    throw new OutcomeUnknownError(detail, { ...error, requestId });
  }

  /** The state after a stop that did not say; undefined if that cannot be learnt. */
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
    if (result.kind === "fault") return readStoppedData(state, requestId, options);
    options.onState?.(state);
    return state;
  }

  /** Waits before try `failures + 1`, or throws the error if no try is left (`failures` undefined, or used up). */
  async #pause(
    operation: Operation,
    error: ResearchError,
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
  if (result.kind === "fault") {
    const { stop } = FAULTS[result.fault];
    // One that never left needs no question about what it did.
    return stop === "ask-retry" && !result.sent ? "retry" : stop;
  }
  // §7: the code for stopping a FAILED or STOPPED conversation is not shown, so any refusal may be that.
  const { kind, enveloped } = result.error;
  return enveloped && (kind === "refused" || kind === "invalid-input") ? "ask" : "fail";
}

/** A 404 says nothing for a minute after the create, and Gemini's 403 to a request of ours never says anything: both are retried. */
function delayNotFound(result: Unsuccessful, ageMs: number): Unsuccessful {
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

/** The data of a stop that was accepted. Throws RefusedError for a request that has ended otherwise. */
function readStoppedData(data: StatusData, requestId: string, { onState }: StopOptions): StatusData {
  onState?.(data);
  if (!isFinal(data.status) || data.status === "STOPPED") return data;
  const message = `${requestId} is ${data.status} and cannot be stopped any more`;
  throw new RefusedError("refused", true, "NOT_ALLOWED", message, { requestId });
}
