import { ResearchClient } from "../../../client/client.js";
import { RefusedError, ResearchError } from "../../../client/errors.js";
import { parseBaseUrl } from "../../../client/http/address.js";
import type { Context } from "../../context.js";
import { CliError, EXIT_CODES, UsageError } from "../../errors.js";
import { readTextStream } from "../../input/bytes.js";
import { ask, askHidden } from "../../terminal/prompts.js";
import { editProfile, profileName } from "../config/profile.js";

export interface LoginOptions {
  withKey?: boolean;
}

/** An id that cannot exist: asking for its state tries a key and touches nothing. */
const NO_REQUEST = "00000000-0000-0000-0000-000000000000";
const MAX_KEY_BYTES = 65_536;

/** Stores a base URL and a key that was tried against it. */
export async function login(ctx: Context, options: LoginOptions): Promise<number> {
  const store = ctx.store.read();
  const profile = profileName(ctx, store);
  const interactive = ctx.host.stdin.isTTY && !options.withKey;
  if (!interactive && !options.withKey) {
    throw new UsageError(
      "login asks for the key on a terminal, and stdin is none",
      "In a script: research login --base-url URL --with-key < keyfile",
    );
  }
  const known = ctx.flags.baseUrl ?? ctx.host.env.RESEARCH_BASE_URL ?? store.profiles[profile]?.["base-url"];
  const base = parseBaseUrl(
    await baseUrl(ctx, known, interactive),
    ctx.flags.insecureHttp ?? Boolean(ctx.host.env.RESEARCH_INSECURE_HTTP),
  );
  const typed = options.withKey
    ? await readTextStream(ctx.host.stdin.stream, "the key", ctx.signal, MAX_KEY_BYTES)
    : await askHidden(ctx, `API key for ${base.origin} (hidden): `);
  const key = typed.trim();
  if (key === "") throw new CliError("NOT_AUTHENTICATED", "no key was given; nothing was saved");
  await tryKey(ctx, base, key);
  await editProfile(ctx, profile, (stored) => {
    stored["base-url"] = base.href.replace(/\/$/, "");
    stored["api-key"] = key;
    stored["api-key-origin"] = base.origin;
  });
  await ctx.reporter.say(`logged in to ${base.origin} (profile ${profile})`);
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
    throw new CliError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Give it: research login --base-url URL --with-key < keyfile",
    });
  }
  const answer = await ask(ctx, `Base URL of the service${known ? ` [${known}]` : ""}: `);
  return answer.trim() || known || "";
}

/** Throws for a key that does not work, or an answer that is not the service's; no answer at all is a warning. */
async function tryKey(ctx: Context, base: URL, apiKey: string): Promise<void> {
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
  } catch (error) {
    if (!(error instanceof ResearchError)) throw error;
    if (
      error instanceof RefusedError ? error.httpStatus === 401 || error.code === "INVALID_API_KEY" : false
    ) {
      throw new CliError(
        "NOT_AUTHENTICATED",
        `the service does not take this key (${error.message}); nothing was saved`,
      );
    }
    const enveloped = error instanceof RefusedError ? error.enveloped : !(error.code in EXIT_CODES);
    if (enveloped) return;
    if (error.httpStatus === undefined && error.code === "UNREACHABLE") {
      return ctx.reporter.notice(
        "KEY_NOT_TRIED",
        `the key could not be tried, and is saved all the same: ${error.message}`,
      );
    }
    throw new CliError(
      "BAD_RESPONSE",
      `this does not look like the research service: ${error.message}; nothing was saved`,
      { hint: "Is the base URL right?" },
    );
  } finally {
    await client.close();
  }
}
