import { CodedError, UsageError } from "../../../app/errors.js";
import { readKeyAnswer } from "../../../app/failure.js";
import { checkProvider, insecureHttpIn } from "../../../app/settings.js";
import { ResearchClient } from "../../../client/calls/client.js";
import { ResearchError } from "../../../client/calls/errors.js";
import { INTERFACE, type Provider, providerNamed } from "../../../client/dialects/providers.js";
import { research } from "../../../client/dialects/research.js";
import { parseBaseUrl } from "../../../core/http/address.js";
import type { Context } from "../../context.js";
import { ask } from "../../terminal/prompts.js";
import { editProfile, profileToChange, readKey } from "../config/run.js";

export async function login(ctx: Context, options: { withKey?: boolean; provider?: string }): Promise<void> {
  const { name: profile, own, site, isInUse } = profileToChange(ctx);
  const interactive = ctx.host.stdin.isTTY && !options.withKey;
  if (!interactive && !options.withKey) {
    throw new UsageError(
      "login asks for the key on a terminal, and stdin is not a terminal",
      `In a script: research login ${options.provider ? `--provider ${options.provider}` : "--base-url URL"} --with-key < keyfile`,
    );
  }
  const name =
    options.provider === undefined ? site.provider : { value: options.provider, source: "--provider" };
  checkProvider(name);
  const provider = providerNamed(name.value);
  // With another provider the profile's address belongs to the former one and is not used.
  const isOther = name.value !== site.provider.value;
  const known = ctx.flags.baseUrl ?? (isOther ? provider?.baseUrl : site.baseUrl?.value);
  const insecureHttp = insecureHttpIn(ctx.flags, ctx.host.env).value;
  const base = parseBaseUrl(provider && known ? known : await baseUrl(ctx, known, interactive), insecureHttp);
  const key = await readKey(ctx, options.withKey ? undefined : `API key for ${base.origin} (hidden):`);
  if (key === "") throw new CodedError("NOT_AUTHENTICATED", "no key was given; nothing was saved");
  const untried = await tryKey(ctx, base, key, provider);
  const keptFor = own?.["api-key"] && own["api-key-origin"];
  const replaced = keptFor && keptFor !== base.origin ? ` in place of the key for ${keptFor}` : "";
  await editProfile(ctx, profile, (stored) => {
    // A model of another service names nothing there.
    if ((stored.provider ?? INTERFACE) !== name.value) {
      delete stored.model;
      delete stored.set;
    }
    if (provider) stored.provider = provider.name;
    else delete stored.provider;
    if (provider?.baseUrl === base.origin && base.pathname === "/") delete stored["base-url"];
    else stored["base-url"] = base.href.replace(/\/$/, "");
    stored["api-key"] = key;
    stored["api-key-origin"] = base.origin;
  });
  if (untried) {
    await ctx.reporter.notice(
      "KEY_NOT_TRIED",
      `the key for ${base.origin} is saved (profile ${profile})${replaced}, but could not be tried: ${untried.message}`,
    );
  } else await ctx.reporter.say(`logged in to ${base.origin} (profile ${profile})`);
  if (provider)
    await ctx.reporter.say(
      `${provider.title} is spoken to as its documentation says, not yet tried on a live account. A restricted key may read there and yet not create.`,
    );
  if (!isInUse)
    await ctx.reporter.say(
      `profile ${profile} is not in use: pass --profile ${profile}, or run: research config use ${profile}`,
    );
}

export async function logout(ctx: Context): Promise<void> {
  const { name: profile, own } = profileToChange(ctx);
  if (!own?.["api-key"]) {
    await ctx.reporter.say(`no key is stored (profile ${profile})`);
    return;
  }
  await editProfile(ctx, profile, (stored) => {
    delete stored["api-key"];
    delete stored["api-key-origin"];
  });
  await ctx.reporter.say(`the key of profile ${profile} is forgotten`);
}

async function baseUrl(ctx: Context, known: string | undefined, interactive: boolean): Promise<string> {
  if (ctx.flags.baseUrl !== undefined || (known && !interactive)) return known ?? "";
  if (!interactive) {
    throw new CodedError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Give it: research login --base-url URL --with-key < keyfile",
    });
  }
  const answer = await ask(ctx, `Base URL of the service${known ? ` [${known}]` : ""}:`);
  return answer.trim() || known || "";
}

/** Resolves with the error if no response came. Throws CodedError for a refused key, and for a response that is not the service's. */
async function tryKey(
  ctx: Context,
  base: URL,
  apiKey: string,
  provider: Provider | undefined,
): Promise<ResearchError | undefined> {
  const dialect = provider ? await provider.load(provider.defaultModel) : research();
  const client = new ResearchClient({
    ...{ ...ctx.clientOptions, onEvent: () => {} },
    ...{ dialect, baseUrl: base.href, apiKey, insecureHttp: true },
  });
  try {
    await client.status(dialect.probeId, { signal: ctx.signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof ResearchError)) throw error;
    switch (readKeyAnswer(error, provider !== undefined)) {
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
