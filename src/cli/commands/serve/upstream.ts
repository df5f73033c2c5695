import type { ResearchClient } from "../../../client/client.js";
import {
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../../../client/errors.js";
import { NEW_REQUEST_MS } from "../../../client/watch/give-up-policy.js";
import { patientInterval } from "../../../client/watch/poll-interval.js";
import type { WatchEvent, WatchTarget } from "../../../client/watch/types.js";
import { type Clock, onAbort } from "../../../clock.js";
import type { Dialect } from "../../../dialects/dialect.js";
import { exactJson, JsonText, memberText } from "../../../json/exact-json.js";
import { CodedError, UsageError } from "../../../machine/errors.js";
import { Machine } from "../../../machine/machine.js";
import { type CreateBody, type Data, isFinal, requestBody } from "../../../protocol/conversation.js";
import { type Log, Troubles } from "../../../server/monitoring/log.js";
import type { EndedThere, Sent, Upstream } from "../../../server/researchers/upstream.js";
import { errorText } from "../../../text/phrases.js";
import { AsyncQueue } from "../../../workflows/batch/async-queue.js";
import type { Context } from "../../context.js";
import type { ServeOptions } from "./flags.js";

/** What of a request's data goes into the data of our output. */
const PASSED_ON = ["usage", "cost_dollars", "sources", "model", "provider_status", "stop_reason"];
/** Between two tries where that place says no in a way that its people may mend, ms. */
const REFUSED_MS = 60_000;

/**
 * The service or provider of the profile that `--upstream` names, with its key or that of RESEARCH_UPSTREAM_API_KEY[_FILE];
 * undefined without that flag. Throws UsageError for flags that exclude each other, else as `Machine.client` does.
 */
export async function upstreamOf(
  { host, flags }: Context,
  options: ServeOptions,
  log: Log,
): Promise<Upstream | undefined> {
  const { upstream: profile, upstreamAtOnce, sources, researcher, model, exec, workers } = options;
  if (profile === undefined) {
    if (upstreamAtOnce !== undefined) throw new UsageError("--upstream-at-once needs --upstream PROFILE");
    return undefined;
  }
  for (const [name, value] of Object.entries({ sources, researcher, model, exec, workers }))
    if (value !== undefined) throw new UsageError(`--upstream and --${name} exclude each other`);
  const { RESEARCH_UPSTREAM_API_KEY, RESEARCH_UPSTREAM_API_KEY_FILE } = host.env;
  const machine = new Machine({
    // Nothing but the profile says where requests go.
    env: {
      ...host.env,
      RESEARCH_API_KEY: RESEARCH_UPSTREAM_API_KEY,
      RESEARCH_API_KEY_FILE: RESEARCH_UPSTREAM_API_KEY_FILE,
      ...{ RESEARCH_BASE_URL: undefined, RESEARCH_PROVIDER: undefined, RESEARCH_PROFILE: undefined },
    },
    platform: host.platform,
    clock: host.clock,
    choices: { ...flags, profile, profileFlag: "--upstream" },
    client: { userAgent: `research-cli/${host.version}`, random: () => host.random() },
    onConnect: () => host.beforeRequests?.(),
  });
  const client = clientOf(machine);
  return clientUpstream({
    client,
    dialect: await machine.dialect(),
    provider: machine.provider?.title ?? client.origin,
    asked: (body) => machine.asked(body, {}),
    ...{ clock: host.clock, log },
  });
}

/** Throws UsageError if the profile does not exist, or lacks an address or a key. */
function clientOf(machine: Machine): ResearchClient {
  try {
    return machine.client;
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const hint = "`research login -p PROFILE` stores both; RESEARCH_UPSTREAM_API_KEY[_FILE] is a key too.";
    const { hint: own } = error.facts;
    throw new UsageError(`--upstream: ${error.message}`, own?.includes("login") ? hint : own);
  }
}

export interface UpstreamParts {
  client: ResearchClient;
  dialect: Dialect;
  /** What people call that place. */
  provider: string;
  /** A create with the model and the options that the profile sets. */
  asked: (body: CreateBody) => CreateBody;
  clock: Clock;
  log: Log;
}

/** A client as the server needs it. */
export function clientUpstream({ client, dialect, provider, asked, clock, log }: UpstreamParts): Upstream {
  const troubles = new Troubles(log);
  const polls = `polls at ${provider}`;
  /** Since when a request that is to be stopped is not found, monotonic ms. */
  const missing = new Map<string, number>();
  const waits = new Waits(client, clock, (event) => {
    if (event.kind === "state" || event.kind === "recovered") troubles.over(polls);
    if (event.kind === "trouble") troubles.failed(polls, event.error);
  });
  return {
    at: client.origin,
    provider,
    canStop: dialect.request("stop", dialect.probeId) !== undefined,
    async create({ prompt, structured_output, output_schema }, signal, onId): Promise<Sent> {
      let known = false;
      const onRequestId = (remoteId: string) => {
        known = true;
        onId(remoteId);
      };
      try {
        await client.create(asked(requestBody(prompt, output_schema, structured_output)), {
          signal,
          onRequestId,
        });
        return { kind: "created" };
      } catch (error) {
        // Whether an id that stood in a torn answer is one, the polls will tell.
        if (known && !(error instanceof RefusedError)) return { kind: "created" };
        if (error instanceof RefusedError) {
          const isOurs = error.kind !== "invalid-input" || output_schema === undefined;
          return { kind: "refused", why: error.message, isOurs };
        }
        if (error instanceof UnreachableError) return { kind: "refused", why: error.message, isOurs: true };
        if (error instanceof ResearchError && error.code === "USAGE")
          return { kind: "refused", why: error.message, isOurs: false };
        const why = error instanceof OutcomeUnknownError ? error.detail : errorText(error);
        return { kind: "unknown", why };
      }
    },
    async end(remoteId, signal) {
      for (;;) {
        try {
          const state = await waits.end(remoteId, signal);
          const ended = await endedThere(state, remoteId, signal);
          troubles.over(polls);
          return ended;
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof RefusedError && error.kind === "not-found")
            return { status: "FAILED", why: `${provider} does not know ${remoteId} any more.`, data: {} };
          troubles.failed(polls, error);
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

  /** Whether nothing runs there any more, though the stop was refused. */
  async function isOver(
    remoteId: string,
    { kind, enveloped }: RefusedError,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (kind === "refused") return isFinal((await client.status(remoteId, { signal })).status);
    if (kind !== "not-found" || !enveloped) return false;
    // A provider may not know yet what it has just created.
    const since = missing.get(remoteId) ?? clock.monotonic();
    missing.set(remoteId, since);
    return !dialect.mayLag || clock.monotonic() - since >= NEW_REQUEST_MS;
  }

  async function endedThere(state: Data, remoteId: string, signal: AbortSignal): Promise<EndedThere> {
    const passedOn = (data: Data) =>
      Object.fromEntries(PASSED_ON.flatMap((name) => (name in data ? [[name, memberText(data, name)]] : [])));
    const failed = (why: string): EndedThere => ({ status: "FAILED", why, data: passedOn(state) });
    if (state.status === "STOPPED") return failed(`It was stopped at ${provider}.`);
    try {
      const data =
        dialect.statusIsResult && "output" in state ? state : await client.output(remoteId, { signal });
      const output = memberText(data, "output") ?? new JsonText(exactJson(data));
      if (state.status === "COMPLETED") return { status: "COMPLETED", output, data: passedOn(data) };
      return failed(`It ended ${state.status} at ${provider}.`);
    } catch (error) {
      // What has COMPLETED there is asked for until it is given: it has been paid for.
      if (!(error instanceof NoOutputError) || error.status === "COMPLETED") throw error;
      return failed(`${provider}: ${error.message}`);
    }
  }
}

interface Wait {
  resolve: (final: Data) => void;
  reject: (error: unknown) => void;
}

/** Waits for requests in one watch, so that all of them share one schedule of polls, however many they are. */
class Waits {
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

  /** The data of the final state. Rejects with the error that an id is given up with, or with `signal.reason`. */
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
    const options = { signal, patience, answered: true, pollInterval: patientInterval };
    try {
      for await (const event of this.client.watch(this.#targets, options)) {
        this.see(event);
        if (event.kind === "state" && event.final) this.#take(event.requestId)?.resolve(event.data);
        if (event.kind === "given-up") this.#take(event.requestId)?.reject(event.error);
      }
    } catch (error) {
      // A defect ends every wait, and the next one begins another watch.
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
