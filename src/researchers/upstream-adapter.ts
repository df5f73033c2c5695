import {
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../client/calls/errors.js";
import type { ResearchClient, StatusData } from "../client/calls/research-client.js";
import { computePatientInterval } from "../client/calls/watch/poll-interval.js";
import type { WatchEvent, WatchTarget } from "../client/calls/watch/watch-types.js";
import type { Dialect } from "../client/dialects/dialect.js";
import { isModelRefusal } from "../client/dialects/providers.js";
import { AsyncQueue } from "../client/workflows/batch/async-queue.js";
import { parseStructuredOutput, readFinalState } from "../client/workflows/find-and-query-requests.js";
import { type Clock, onAbort } from "../core/clock.js";
import { findMemberText, JsonText, stringifyExact } from "../core/json/exact-json.js";
import {
  buildRequestBody,
  type CreateBody,
  type Data,
  isFinal,
  type JsonSchema,
} from "../core/protocol/conversation.js";
import { DAY_MS } from "../core/protocol/rate-limits.js";
import { describeError } from "../core/text/format-text.js";
import { type Log, TroubleLog } from "../server/monitoring/operator-log.js";
import type { Upstream, UpstreamCreate, UpstreamResult } from "./upstream-researcher.js";

/** The fields that are copied from the data of an upstream request to the data of our output. */
const PASSED_ON = "usage cost_dollars sources citations model provider_status stop_reason".split(" ");
/** The interval between polls after an error that the owners of the account may fix, ms. */
const REFUSED_MS = 60_000;
/** A request counts as gone if the upstream service has not found it for this long, ms. */
const GONE_MS = 600_000;
/** Matches the message of a 403 that concerns the question and not the key. */
const POLICY = /policy|moderation|safety|content|prohibited/i;

export interface UpstreamParts {
  client: ResearchClient;
  dialect: Dialect;
  /** The display name of the service. */
  provider: string;
  /** The requested model; undefined if the service chooses. */
  model: string | undefined;
  /** Whether the service's answers are known to contain the cost of a request. */
  saysDollars: boolean;
  day?: Upstream["day"];
  /** Adds the model and the options of the profile to the body of a create request. */
  asked: (body: CreateBody) => CreateBody;
  clock: Clock;
  log: Log;
}

/** Adapts a client to the form that the server needs. */
export function createUpstreamAdapter(parts: UpstreamParts): Upstream {
  const { client, dialect, provider, model, saysDollars, day, asked, clock, log } = parts;
  const troubles = new TroubleLog(log, clock);
  const polls = `polls at ${provider}`;
  /** Monotonic ms at which the upstream service first answered 404 for each request, by id. */
  const missing = new Map<string, number>();
  /** The final states in answers to create requests, by id. They are not polled, because a later poll might not return the result again. */
  const ends = new Map<string, StatusData>();
  const waits = new SharedUpstreamWatch(client, clock, (event) => {
    if (event.kind === "state") missing.delete(event.requestId);
    if (event.kind === "state" || event.kind === "recovered") troubles.noteRecovery(polls);
    if (event.kind === "trouble") troubles.noteFailure(polls, event.error);
  });
  return {
    at: client.origin,
    provider,
    facts: { model, saysDollars },
    ...(day && { day }),
    canStop: dialect.request("stop", dialect.probeId) !== undefined,
    async create({ prompt, structured_output, output_schema }, signal, onId): Promise<UpstreamCreate> {
      let isKnown = false;
      const onRequestId = (remoteId: string) => {
        isKnown = true;
        onId(remoteId);
      };
      try {
        const data = await client.create(asked(buildRequestBody(prompt, output_schema, structured_output)), {
          signal,
          onRequestId,
        });
        const end = readFinalState(data);
        if (end) ends.set(data.request_id, end);
        return { kind: "created" };
      } catch (error) {
        // An id may come from a torn answer; the polls show whether the request exists.
        if (isKnown && !(error instanceof RefusedError)) return { kind: "created" };
        // The client rejects with the reason only if it sent nothing; after sending, it waits for the outcome.
        if (signal.aborted && error === signal.reason) return { kind: "unsent" };
        return classifyCreateFailure(error);
      }
    },
    async end(remoteId, signal, schema) {
      for (;;) {
        try {
          const state = ends.get(remoteId) ?? (await waits.end(remoteId, signal));
          const ended = await readEnd(state, remoteId, signal, schema);
          ends.delete(remoteId);
          troubles.noteRecovery(polls);
          return ended;
        } catch (error) {
          signal.throwIfAborted();
          if (isGone(remoteId, error))
            return { status: "FAILED", why: `${provider} does not know ${remoteId} any more.`, data: {} };
          troubles.noteFailure(polls, error);
        }
        await clock.sleep(REFUSED_MS, signal);
      }
    },
    async stop(remoteId, signal) {
      try {
        await client.stop(remoteId, { signal });
      } catch (error) {
        if (!(error instanceof RefusedError && (await isOver(remoteId, error, signal)))) throw error;
      }
    },
    async close() {
      await waits.close();
      await client.close();
    },
  };

  /** Returns whether the request has already ended, although the service refused to stop it. */
  async function isOver(remoteId: string, error: RefusedError, signal: AbortSignal): Promise<boolean> {
    if (error.kind === "refused") return isFinal((await client.status(remoteId, { signal })).status);
    return isGone(remoteId, error);
  }

  /** Returns whether the service has not found the request for GONE_MS. One 404 is not enough, because it may come from a replica that lags behind. */
  function isGone(remoteId: string, error: unknown): boolean {
    if (!(error instanceof RefusedError) || error.kind !== "not-found" || !error.enveloped) return false;
    const since = missing.get(remoteId) ?? clock.monotonic();
    missing.set(remoteId, since);
    if (clock.monotonic() - since < GONE_MS) return false;
    missing.delete(remoteId);
    return true;
  }

  async function readEnd(
    state: Data,
    remoteId: string,
    signal: AbortSignal,
    schema: JsonSchema | undefined,
  ): Promise<UpstreamResult> {
    const pickPassedOn = (data: Data) =>
      Object.fromEntries(
        PASSED_ON.flatMap((name) => (name in data ? [[name, findMemberText(data, name)]] : [])),
      );
    const createFailed = (why: string): UpstreamResult => ({
      status: "FAILED",
      why,
      data: pickPassedOn(state),
    });
    if (state.status === "STOPPED") return createFailed(`It was stopped at ${provider}.`);
    if (state.status === "FAILED" && state.provider_status !== undefined)
      return createFailed(
        `${provider}: ${client.createNoOutputError({ ...state, status: "FAILED" }, remoteId).message}`,
      );
    try {
      const isResult = dialect.statusIsResult && state.status === "COMPLETED" && "output" in state;
      const data = parseStructuredOutput(
        isResult ? state : await client.output(remoteId, { signal }),
        schema,
      );
      const output = findMemberText(data, "output") ?? new JsonText(stringifyExact(data));
      if (state.status === "COMPLETED") return { status: "COMPLETED", output, data: pickPassedOn(data) };
      return createFailed(`It ended ${state.status} at ${provider}.`);
    } catch (error) {
      // Retry the result of a COMPLETED request until the service returns it, because it was paid for.
      if (!(error instanceof NoOutputError) || error.status === "COMPLETED") throw error;
      return createFailed(`${provider}: ${error.message}`);
    }
  }
}

/** Classifies a failed create request by its effect on other create requests. */
function classifyCreateFailure(error: unknown): UpstreamCreate {
  const why = error instanceof OutcomeUnknownError ? error.detail : describeError(error);
  if (!(error instanceof ResearchError) || error instanceof OutcomeUnknownError)
    return { kind: "unknown", why };
  const { retryAfter } = error;
  const retryAfterMs = retryAfter === undefined ? undefined : Math.min(retryAfter * 1_000, DAY_MS);
  if (error instanceof UnreachableError) return { kind: "limit", why, retryAfterMs };
  // The service has no way to express the request, so it was not sent.
  if (!(error instanceof RefusedError)) return { kind: "refused", why };
  const kind = classifyRefusal(error);
  return kind === "limit" ? { kind, why, retryAfterMs } : { kind, why };
}

/** Returns whether a refusal is about the question, about the account, or about a limit that ends by itself. */
function classifyRefusal({ kind, enveloped, httpStatus, code, message }: RefusedError) {
  // The client does not know status 402, because the interface document does not mention it.
  if (kind === "no-credit" || httpStatus === 402) return "account";
  // A refusal without an envelope may come from a proxy, and ends by itself.
  if (kind === "rate-limited" || !enveloped) return "limit";
  // The owners of the account chose the model. A create request has no id, so a 404 is about the model or the address.
  if (httpStatus === 404 || isModelRefusal({ code, message })) return "account";
  if (httpStatus === 403 && POLICY.test(`${code} ${message}`)) return "refused";
  return ["unauthenticated", "withheld", "not-found"].includes(kind) ? "account" : "refused";
}

interface Wait {
  resolve: (final: Data) => void;
  reject: (error: unknown) => void;
}

/** Polls all requests in one watch, so that any number of them shares one schedule. */
class SharedUpstreamWatch {
  readonly #closing = new AbortController();
  readonly #waits = new Map<string, Wait>();
  #targets = new AsyncQueue<WatchTarget>();
  #watching: Promise<void> | undefined;

  /** `see` is called with each event. */
  constructor(
    private readonly client: Pick<ResearchClient, "watch">,
    private readonly clock: Clock,
    private readonly see: (event: WatchEvent) => void,
  ) {}

  /** Returns the data of the final state. Rejects with the error that ended the polls of the request, or with `signal.reason`. */
  async end(requestId: string, signal: AbortSignal): Promise<Data> {
    signal.throwIfAborted();
    this.#targets.push({ requestId, recordedAt: this.clock.now(), signal });
    this.#watching ??= this.#watch();
    return await new Promise((resolve, reject) => {
      this.#waits.set(requestId, { resolve, reject });
      onAbort(signal, () => this.#take(requestId)?.reject(signal.reason));
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    const patience = Number.POSITIVE_INFINITY;
    const options = { signal, patience, answered: true, pollInterval: computePatientInterval };
    try {
      for await (const event of this.client.watch(this.#targets, options)) {
        this.see(event);
        if (event.kind === "state" && event.final) this.#take(event.requestId)?.resolve(event.data);
        if (event.kind === "given-up") this.#take(event.requestId)?.reject(event.error);
      }
    } catch (error) {
      // A defect of the watch ends all waits; the next wait starts a new watch.
      this.#watching = undefined;
      this.#targets = new AsyncQueue();
      for (const requestId of this.#waits.keys()) this.#take(requestId)?.reject(error);
    }
  }

  #take(requestId: string): Wait | undefined {
    const wait = this.#waits.get(requestId);
    this.#waits.delete(requestId);
    return wait;
  }
}
