import { askedOf } from "../../../app/asked.js";
import { CodedError, refuseBeside, UsageError } from "../../../app/errors.js";
import { Machine } from "../../../app/machine.js";
import type { ResearchClient } from "../../../client/calls/client.js";
import type { Upstream } from "../../../researchers/upstream.js";
import { clientUpstream } from "../../../researchers/upstream-client.js";
import { keyHash, keyIdOf } from "../../../server/keys/key-store.js";
import type { Log } from "../../../server/monitoring/log.js";
import type { Context } from "../../context.js";
import type { ServeOptions } from "./flags.js";

/** What `--upstream` names; undefined without it. Throws UsageError for flags that exclude each other, else as `Machine.client`. */
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
  refuseBeside("--upstream", { sources, researcher, model, exec, workers });
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
    choices: { ...flags, profile, profileFlag: "--upstream", hasOwnKey: true },
    client: { userAgent: `research-cli/${host.version}`, random: () => host.random() },
    onConnect: () => host.beforeRequests?.(),
  });
  const client = clientOf(machine);
  const { perDay } = machine;
  const day = perDay && {
    account: `${client.origin} ${keyIdOf(keyHash(machine.apiKey))}`,
    most: perDay.value,
    words: `${client.origin} (profile ${profile}), set by ${perDay.source}`,
  };
  return clientUpstream({
    client,
    dialect: await machine.dialect(),
    provider: machine.provider?.title ?? client.origin,
    model: askedOf(machine, { prompt: "" }, {}).model ?? machine.provider?.defaultModel,
    saysDollars: machine.provider === undefined || machine.provider.saysDollars === true,
    asked: (body) => askedOf(machine, body, {}),
    ...(day && { day }),
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
