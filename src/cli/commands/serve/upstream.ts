import type { ResearchClient } from "../../../client/client.js";
import {
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "../../../client/errors.js";
import type { Clock } from "../../../clock.js";
import type { Dialect } from "../../../dialects/dialect.js";
import { exactJson, JsonText, memberText } from "../../../json/exact-json.js";
import { CodedError, UsageError } from "../../../machine/errors.js";
import { Machine } from "../../../machine/machine.js";
import type { Data } from "../../../protocol/conversation.js";
import { type CreateBody, requestBody } from "../../../protocol/conversation.js";
import { type Log, Troubles } from "../../../server/monitoring/log.js";
import type { EndedThere, Sent, Upstream } from "../../../server/researchers/upstream.js";
import { errorText } from "../../../text/phrases.js";
import type { Context } from "../../context.js";
import type { ServeOptions } from "./options.js";

/** Throws UsageError for flags that exclude each other. */
export function checkUpstream(options: ServeOptions): void {
  const { upstream, upstreamAtOnce, sources, researcher, model, exec, workers } = options;
  if (upstream === undefined) {
    if (upstreamAtOnce !== undefined) throw new UsageError("--upstream-at-once needs --upstream PROFILE");
    return;
  }
  for (const [name, value] of Object.entries({ sources, researcher, model, exec, workers }))
    if (value !== undefined) throw new UsageError(`--upstream and --${name} exclude each other`);
}

/** What of a request's data goes into the data of our output. */
const PASSED_ON = ["usage", "cost_dollars", "sources", "model", "provider_status", "stop_reason"];
/** Between two tries where that place says no in a way that its people may mend, ms. */
const REFUSED_MS = 60_000;

/** The service or provider of a profile, with its key or that of RESEARCH_UPSTREAM_API_KEY[_FILE]. Throws as `Machine.client` does. */
export async function upstreamOf({ host, flags }: Context, profile: string, log: Log): Promise<Upstream> {
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
    choices: { ...flags, profile },
    client: { userAgent: `research-cli/${host.version}`, random: () => host.random() },
    onConnect: () => host.beforeRequests?.(),
  });
  const { client } = usable(machine);
  const provider = machine.provider?.title ?? client.origin;
  const asked = (body: CreateBody) => machine.asked(body, {});
  return clientUpstream({
    client,
    dialect: await machine.dialect(),
    provider,
    asked,
    clock: host.clock,
    log,
  });
}

/** Throws UsageError if the profile does not exist, or lacks an address or a key. */
function usable(machine: Machine): Machine {
  try {
    void machine.client;
    return machine;
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const hint = "`research login -p PROFILE` stores both; RESEARCH_UPSTREAM_API_KEY[_FILE] is a key too.";
    throw new UsageError(
      `--upstream: ${error.message}`,
      error.facts.hint?.includes("login") ? hint : error.facts.hint,
    );
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
          const state = await finalState(remoteId, signal);
          const ended = await endedThere(state, remoteId, signal);
          troubles.over(polls);
          return ended;
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof RefusedError && error.kind === "not-found")
            return { status: "FAILED", why: `${provider} does not know ${remoteId} any more.`, data: {} };
          troubles.failed(polls, errorText(error));
        }
        await clock.sleep(REFUSED_MS, signal);
      }
    },
    async stop(remoteId) {
      try {
        await client.stop(remoteId);
      } catch (error) {
        // It has ended, or is not there: nothing runs any more.
        const isOver = error instanceof RefusedError && ["refused", "not-found"].includes(error.kind);
        if (!isOver) throw error;
      }
    },
    close: () => client.close(),
  };

  async function finalState(remoteId: string, signal: AbortSignal): Promise<Data> {
    const watched = client.watch([{ requestId: remoteId, recordedAt: clock.now() }], {
      ...{ signal, patience: Number.POSITIVE_INFINITY, answered: true },
    });
    for await (const event of watched) {
      if (event.kind === "state" && event.final) return event.data;
      if (event.kind === "state" || event.kind === "recovered") troubles.over(polls);
      if (event.kind === "trouble") troubles.failed(polls, event.error.message);
      if (event.kind === "given-up") throw event.error;
    }
    throw new Error(`${remoteId} was not watched to its end`);
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
      if (error instanceof NoOutputError) return failed(`${provider}: ${error.message}`);
      throw error;
    }
  }
}
