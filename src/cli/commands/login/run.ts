import { ResearchClient } from "../../../client/client.js";
import { ResearchError } from "../../../client/errors.js";
import { parseBaseUrl } from "../../../client/http/address.js";
import { CodedError, UsageError } from "../../../machine/errors.js";
import { NO_REQUEST, readKeyAnswer } from "../../../machine/key-check.js";
import { profileIn } from "../../../machine/precedence.js";
import { readTextStream } from "../../../machine/read-text.js";
import { insecureHttpIn } from "../../../machine/settings.js";
import type { Context } from "../../context.js";
import { ask, askHidden } from "../../terminal/prompts.js";
import { baseUrlOf, editProfile, profileName } from "../config/profile.js";

export interface LoginOptions {
  withKey?: boolean;
}

const MAX_KEY_BYTES = 65_536;

/** Stores a base URL and a key that was tried against it. */
export async function login(ctx: Context, options: LoginOptions): Promise<number> {
  const store = ctx.store.read();
  const profile = profileName(ctx, store);
  const interactive = ctx.host.stdin.isTTY && !options.withKey;
  if (!interactive && !options.withKey) {
    throw new UsageError(
      "login asks for the key on a terminal, and stdin is not a terminal",
      "In a script: research login --base-url URL --with-key < keyfile",
    );
  }
  const known = baseUrlOf(ctx, store, profile);
  const insecureHttp = insecureHttpIn(ctx.flags, ctx.host.env).value;
  const base = parseBaseUrl(await baseUrl(ctx, known, interactive), insecureHttp);
  const typed = options.withKey
    ? await readTextStream(ctx.host.stdin.stream, "the key", ctx.signal, MAX_KEY_BYTES)
    : await askHidden(ctx, `API key for ${base.origin} (hidden): `);
  const key = typed.trim();
  if (key === "") throw new CodedError("NOT_AUTHENTICATED", "no key was given; nothing was saved");
  const untried = await tryKey(ctx, base, key);
  const keptFor = store.profiles[profile]?.["api-key"] && store.profiles[profile]?.["api-key-origin"];
  const replaced = keptFor && keptFor !== base.origin ? ` in place of the key for ${keptFor}` : "";
  await editProfile(ctx, profile, (stored) => {
    stored["base-url"] = base.href.replace(/\/$/, "");
    stored["api-key"] = key;
    stored["api-key-origin"] = base.origin;
  });
  if (untried) {
    await ctx.reporter.notice(
      "KEY_NOT_TRIED",
      `the key for ${base.origin} is saved (profile ${profile})${replaced}, but could not be tried: ${untried.message}`,
    );
  } else await ctx.reporter.say(`logged in to ${base.origin} (profile ${profile})`);
  if (profile !== profileIn({}, ctx.host.env, store).value)
    await ctx.reporter.say(
      `profile ${profile} is not in use: pass --profile ${profile}, or run: research config use ${profile}`,
    );
  return 0;
}

/** Forgets the stored key of the profile in use. */
export async function logout(ctx: Context): Promise<number> {
  const store = ctx.store.read();
  const profile = profileName(ctx, store);
  if (!store.profiles[profile]?.["api-key"]) {
    await ctx.reporter.say(`no key is stored (profile ${profile})`);
    return 0;
  }
  await editProfile(ctx, profile, (stored) => {
    delete stored["api-key"];
    delete stored["api-key-origin"];
  });
  await ctx.reporter.say(`the key of profile ${profile} is forgotten`);
  return 0;
}

async function baseUrl(ctx: Context, known: string | undefined, interactive: boolean): Promise<string> {
  if (ctx.flags.baseUrl !== undefined || (known && !interactive)) return known ?? "";
  if (!interactive) {
    throw new CodedError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Give it: research login --base-url URL --with-key < keyfile",
    });
  }
  const answer = await ask(ctx, `Base URL of the service${known ? ` [${known}]` : ""}: `);
  return answer.trim() || known || "";
}

/**
 * Tries a key by asking for the state of an id that cannot exist. Resolves with the error if no response came. Throws
 * CodedError `NOT_AUTHENTICATED` for a refused key, `BAD_RESPONSE` for a response that is not the service's.
 */
async function tryKey(ctx: Context, base: URL, apiKey: string): Promise<ResearchError | undefined> {
  const client = new ResearchClient({
    baseUrl: base.href,
    apiKey,
    insecureHttp: true,
    proxyEnvironment: ctx.host.env,
    clock: ctx.host.clock,
    userAgent: `research-cli/${ctx.host.version}`,
    ...(ctx.flags.requestTimeout !== undefined && { requestTimeout: ctx.flags.requestTimeout }),
  });
  try {
    await client.status(NO_REQUEST, { signal: ctx.signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof ResearchError)) throw error;
    switch (readKeyAnswer(error)) {
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
          `this does not look like the research service: ${error.message}; nothing was saved`,
          { hint: "Is the base URL right?" },
        );
    }
  } finally {
    await client.close();
  }
}
