import { classifyLoginError } from "../../../app/describe-failure.js";
import { CodedError, UsageError } from "../../../app/errors.js";
import { chooseInsecureHttp, DEFAULT_PROFILE, requireKnownProvider } from "../../../app/resolve-settings.js";
import { ResearchError } from "../../../client/calls/errors.js";
import { ResearchClient } from "../../../client/calls/research-client.js";
import { findProvider, INTERFACE, type Provider } from "../../../client/dialects/providers.js";
import { createInterfaceDialect } from "../../../client/dialects/research-interface.js";
import { parseBaseUrl } from "../../../core/http/base-url-and-proxy.js";
import type { Context } from "../../command-context.js";
import { askQuestion } from "../../terminal/prompts.js";
import { askForKey, editProfile, findProfileToChange } from "../config/run.js";

type LoginFlags = { withKey?: boolean; provider?: string };

/** Tests a key, and stores it with its provider and address. Throws UsageError if it would replace the key of another account. */
export async function runLogin(
  ctx: Context,
  named: string | undefined,
  { withKey = false, provider: flag }: LoginFlags,
): Promise<void> {
  const { env } = ctx.host;
  if (named !== undefined && flag !== undefined && named !== flag)
    throw new UsageError(`two providers: ${named} and --provider ${flag}`, "Name one of them.");
  const chosen = named ?? flag;
  const profileFlag = ctx.flags.profile || env.RESEARCH_PROFILE;
  const ofProvider = findProvider(chosen ?? env.RESEARCH_PROVIDER ?? "")?.name ?? DEFAULT_PROFILE;
  const {
    name: profile,
    storedProfile,
    site,
    before,
  } = findProfileToChange(ctx, profileFlag || ofProvider, findProvider(chosen ?? "")?.name);
  const isInteractive = ctx.host.stdin.isTTY && !withKey;
  if (!isInteractive && !withKey) {
    throw new UsageError(
      "login asks for the key on a terminal, and stdin is not a terminal",
      `In a script: research login ${chosen ?? "--base-url URL"} --with-key < keyfile`,
    );
  }
  requireKnownProvider(site.provider);
  const name = chosen ?? site.provider.value;
  const provider = findProvider(name);
  const knownUrl = name === site.provider.value ? site.baseUrl?.value : ctx.flags.baseUrl;
  const insecureHttp = chooseInsecureHttp(ctx.flags, env).value;
  const base = parseBaseUrl(
    provider && knownUrl ? knownUrl : await askBaseUrl(ctx, knownUrl, isInteractive),
    insecureHttp,
  );
  const keyOrigin = storedProfile?.["api-key"] && storedProfile["api-key-origin"];
  const isOther = (storedProfile?.provider ?? INTERFACE) !== name;
  if (keyOrigin && (isOther || keyOrigin !== base.origin))
    throw new UsageError(
      `the profile ${profile} has the key of another account, at ${keyOrigin}: add -p NAME to store this key in another profile, or delete that key first with \`research logout -p ${profile}\``,
    );
  const key = await askForKey(ctx, withKey ? undefined : `API key for ${base.origin} (hidden):`);
  if (key === "") throw new CodedError("NOT_AUTHENTICATED", "no key was given; nothing was saved");
  const untried = await testKey(ctx, base, key, provider);
  const isUsed = before === undefined || (!profileFlag && !storedProfile?.["api-key"]);
  await editProfile(ctx, profile, (account, stored) => {
    // The name of another service's model is not valid here.
    if (isOther) {
      delete account.model;
      delete account.set;
    }
    if (provider) account.provider = provider.name;
    else delete account.provider;
    if (provider?.baseUrl === base.origin && base.pathname === "/") delete account["base-url"];
    else account["base-url"] = base.href.replace(/\/$/, "");
    account["api-key"] = key;
    account["api-key-origin"] = base.origin;
    if (isUsed && profile !== DEFAULT_PROFILE) stored.profile = profile;
    else if (isUsed) delete stored.profile;
  });
  if (untried)
    await ctx.reporter.writeNotice(
      "KEY_NOT_TRIED",
      `the key for ${base.origin} is saved (profile ${profile}), but could not be tested: ${untried.message}`,
    );
  else await ctx.reporter.say(`logged in to ${base.origin} (profile ${profile})`);
  if (provider)
    await ctx.reporter.say(
      `${provider.title} support was written from its documentation and has not been tested on a live account. A restricted key may pass this test and still not be allowed to create requests.`,
    );
  await reportAccounts(ctx, profile, isUsed, before);
}

/** Prints which account is in use, and all accounts if there are several. `before`: the profile that was in use until now. */
async function reportAccounts(
  ctx: Context,
  profile: string,
  isUsed: boolean,
  before: string | undefined,
): Promise<void> {
  const inUse = ctx.host.env.RESEARCH_PROFILE || (isUsed ? profile : before);
  if (isUsed && before !== undefined && before !== profile)
    await ctx.reporter.say(
      `switched from profile ${before} to ${profile}; to switch back: research config use ${before}`,
    );
  else if (inUse !== profile)
    await ctx.reporter.say(
      `profile ${profile} is not in use: pass --profile ${profile}, or run: research config use ${profile}`,
    );
  const names = ctx.accounts.map(({ settings }) => settings.profile.value);
  const marked = names.map((name) => (name === inUse ? `${name} (in use)` : name));
  if (names.length > 1) await ctx.reporter.say(`accounts: ${marked.join(", ")}`);
}

async function askBaseUrl(ctx: Context, knownUrl: string | undefined, interactive: boolean): Promise<string> {
  if (ctx.flags.baseUrl !== undefined || (knownUrl && !interactive)) return knownUrl ?? "";
  if (!interactive) {
    throw new CodedError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Run: research login --base-url URL --with-key < keyfile",
    });
  }
  const answer = await askQuestion(ctx, `Base URL of the service${knownUrl ? ` [${knownUrl}]` : ""}:`);
  return answer.trim() || knownUrl || "";
}

/** Sends the login's test request. Resolves with the error if no answer came. Rejects with CodedError if the key is invalid or another service answers. */
async function testKey(
  ctx: Context,
  base: URL,
  apiKey: string,
  provider: Provider | undefined,
): Promise<ResearchError | undefined> {
  const dialect = provider ? await provider.load(provider.defaultModel) : createInterfaceDialect();
  const client = new ResearchClient({
    ...{ ...ctx.clientOptions, onEvent: () => {} },
    ...{ dialect, baseUrl: base.href, apiKey, insecureHttp: true },
  });
  try {
    await client.status(dialect.probeId, { signal: ctx.signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof ResearchError)) throw error;
    switch (classifyLoginError(error, provider !== undefined)) {
      case "valid":
        return undefined;
      case "no-answer":
        return error;
      case "refused":
        throw new CodedError(
          "NOT_AUTHENTICATED",
          `the service refuses this key (${error.message}); nothing was saved`,
          { httpStatus: error.httpStatus },
        );
      case "not-the-service":
        throw new CodedError(
          "BAD_RESPONSE",
          `this does not look like ${provider?.title ?? "the research service"}: ${error.message}; nothing was saved`,
          { hint: error.hint ?? "Is the base URL right?" },
        );
    }
  } finally {
    await client.close();
  }
}
