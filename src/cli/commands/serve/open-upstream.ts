import { CodedError, refuseFlagsBeside, UsageError } from "../../../app/errors.js";
import { ProfileAccount } from "../../../app/profile-account.js";
import { addProviderOptions } from "../../../app/provider-options.js";
import type { ResearchClient } from "../../../client/calls/research-client.js";
import { createUpstreamAdapter } from "../../../researchers/upstream-adapter.js";
import type { Upstream } from "../../../researchers/upstream-researcher.js";
import { hashKey, shortenHash } from "../../../server/keys/key-store.js";
import type { Log } from "../../../server/monitoring/operator-log.js";
import type { Context } from "../../command-context.js";
import type { ServeOptions } from "./flags.js";

/** Opens the account that `--upstream` names; undefined without that flag. Throws UsageError for conflicting flags and as `requireUpstreamClient` does. */
export async function openUpstream(
  { host, flags }: Context,
  options: ServeOptions,
  log: Log,
): Promise<Upstream | undefined> {
  const { upstream: profile, upstreamAtOnce, sources, researcher, model, exec, workers } = options;
  if (profile === undefined) {
    if (upstreamAtOnce !== undefined) throw new UsageError("--upstream-at-once needs --upstream PROFILE");
    return undefined;
  }
  refuseFlagsBeside("--upstream", { sources, researcher, model, exec, workers });
  const { RESEARCH_UPSTREAM_API_KEY, RESEARCH_UPSTREAM_API_KEY_FILE } = host.env;
  const account = new ProfileAccount({
    // Only the profile determines where requests are sent.
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
  const client = requireUpstreamClient(account);
  const { perDay } = account;
  const day = perDay && {
    account: `${client.origin} ${shortenHash(hashKey(account.apiKey))}`,
    most: perDay.value,
    words: `${client.origin} (profile ${profile}), set by ${perDay.source}`,
  };
  return createUpstreamAdapter({
    client,
    dialect: await account.dialect(),
    provider: account.provider?.title ?? client.origin,
    model: addProviderOptions(account, { prompt: "" }, {}).model ?? account.provider?.defaultModel,
    saysDollars: account.provider === undefined || account.provider.saysDollars === true,
    asked: (body) => addProviderOptions(account, body, {}),
    ...(day && { day }),
    ...{ clock: host.clock, log },
  });
}

/** Returns the account's client. Throws UsageError if the profile does not exist, or has no address or key. */
function requireUpstreamClient(account: ProfileAccount): ResearchClient {
  try {
    return account.client;
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const hint =
      "`research login -p PROFILE` stores the address and the key. RESEARCH_UPSTREAM_API_KEY or RESEARCH_UPSTREAM_API_KEY_FILE can give the key instead.";
    const { hint: clientHint } = error.facts;
    throw new UsageError(`--upstream: ${error.message}`, clientHint?.includes("login") ? hint : clientHint);
  }
}
