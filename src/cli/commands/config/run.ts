import { parseBaseUrl } from "../../../client/http/address.js";
import { isTier, TIERS } from "../../../protocol/limits.js";
import type { Profile } from "../../../store/settings.js";
import { safeLine } from "../../../text/safe-text.js";
import type { Context } from "../../context.js";
import { CliError, UsageError } from "../../errors.js";
import { readTextStream } from "../../input/bytes.js";
import { maskKey, type Sourced } from "../../settings.js";
import { askHidden } from "../../terminal/prompts.js";
import { editProfile, profileName } from "./profile.js";

type Key = Exclude<keyof Profile & string, "api-key-origin">;

/** The settings that can be stored, each with a check that throws UsageError. */
const CHECKS: Record<string, (value: string, ctx: Context) => void> = {
  "base-url": (value, ctx) => void parseBaseUrl(value, ctx.flags.insecureHttp ?? false),
  "api-key": (value) => mustMatch(value, /^[\x21-\x7e]+$/, "a key is visible ASCII without spaces"),
  tier: (value) => {
    if (!isTier(value))
      throw new UsageError(
        `${JSON.stringify(value)} is no tier`,
        `There are: ${Object.keys(TIERS).join(", ")}.`,
      );
  },
  history: (value) => mustMatch(value, /^(on|off)$/, "history is on or off"),
  "status-method": (value) => mustMatch(value, /^[A-Z]{1,16}$/, "an HTTP method is written in capitals"),
  "output-method": (value) => mustMatch(value, /^[A-Z]{1,16}$/, "an HTTP method is written in capitals"),
  "output-path": (value) =>
    mustMatch(
      value,
      /^\/[\x21-\x7e]*\{request_id\}[\x21-\x7e]*$/,
      "the path begins with / and has {request_id} in it",
    ),
  "output-field": (value) => mustMatch(value, /\S/, "the field has a name"),
};

/** Prints the value in force. */
export async function configGet(ctx: Context, name: string): Promise<number> {
  const key = checkKey(name);
  const found = inForce(ctx)[key];
  if (!found)
    throw new CliError("NOT_FOUND", `${key} is not set`, {
      hint: `Set it: research config set ${key} VALUE`,
    });
  if (ctx.reporter.json) await ctx.reporter.resultJson({ [key]: found });
  else await ctx.reporter.result(`${safeLine(found.value)}\n`);
  return 0;
}

/** Prints every setting in force and which source won. */
export async function configList(ctx: Context): Promise<number> {
  const all = inForce(ctx);
  if (ctx.reporter.json) {
    await ctx.reporter.resultJson(all);
    return 0;
  }
  const rows = Object.entries(all).map(
    ([key, found]) =>
      `${key}\t${found ? safeLine(found.value) : "-"}\t${found ? safeLine(found.source) : "not set"}\n`,
  );
  await ctx.reporter.result(rows.join(""));
  return 0;
}

/** Stores a setting in the profile in use. A key with no value comes from a hidden prompt or from stdin. */
export async function configSet(ctx: Context, name: string, given: string | undefined): Promise<number> {
  const key = checkKey(name);
  const value = given ?? (key === "api-key" ? await readKey(ctx) : undefined);
  if (value === undefined) throw new UsageError(`${key} needs a value`, `research config set ${key} VALUE`);
  CHECKS[key]?.(value, ctx);
  const profile = profileName(ctx, ctx.store.read());
  const binding = key === "api-key" ? { "api-key-origin": originFor(ctx, profile) } : {};
  await editProfile(ctx, profile, (stored) => void Object.assign(stored, { [key]: value }, binding));
  if (key === "api-key" && given !== undefined) {
    await ctx.reporter.notice(
      "KEY_ON_COMMAND_LINE",
      "a key on the command line can be seen by others and stays in the shell's history; leave the value out to be asked",
    );
  }
  return 0;
}

/** Takes a setting out of the profile in use. */
export async function configUnset(ctx: Context, name: string): Promise<number> {
  const key = checkKey(name);
  await editProfile(ctx, profileName(ctx, ctx.store.read()), (stored) => {
    delete stored[key];
    if (key === "api-key") delete stored["api-key-origin"];
  });
  return 0;
}

/** Makes a profile the one in use. */
export async function configUse(ctx: Context, name: string): Promise<number> {
  const known = Object.keys(ctx.store.read().profiles);
  if (!known.includes(name)) {
    const hint = known.length > 0 ? `There are: ${known.join(", ")}.` : "There is none yet.";
    throw new UsageError(
      `there is no profile ${JSON.stringify(name)}`,
      `${hint} \`research login --profile ${name}\` makes it.`,
    );
  }
  await ctx.store.update((stored) => {
    stored.profile = name;
  });
  return 0;
}

/** Prints where the settings are kept. */
export async function configPath(ctx: Context): Promise<number> {
  const { path } = ctx.store;
  if (!path)
    throw new CliError(
      "LOCAL_IO",
      "there is no folder for settings: set HOME or RESEARCH_CONFIG_DIR to an absolute path",
    );
  if (ctx.reporter.json) await ctx.reporter.resultJson({ path });
  else await ctx.reporter.result(`${path}\n`);
  return 0;
}

function inForce(ctx: Context): Record<Key | "profile", Sourced<string> | undefined> {
  const { profile, baseUrl, apiKey, tier, history, gaps } = ctx.settings;
  return {
    profile,
    "base-url": baseUrl,
    "api-key": apiKey && { value: maskKey(apiKey.value), source: apiKey.source },
    tier,
    history,
    "status-method": gaps.statusMethod,
    "output-method": gaps.outputMethod,
    "output-path": gaps.outputPath,
    "output-field": gaps.outputField,
  };
}

function checkKey(name: string): Key {
  if (Object.hasOwn(CHECKS, name)) return name as Key;
  throw new UsageError(
    `there is no setting ${JSON.stringify(name)}`,
    `There are: ${Object.keys(CHECKS).join(", ")}.`,
  );
}

function mustMatch(value: string, pattern: RegExp, rule: string): void {
  if (!pattern.test(value)) throw new UsageError(`that value does not do: ${rule}`);
}

async function readKey(ctx: Context): Promise<string> {
  const { stdin } = ctx.host;
  const typed = stdin.isTTY
    ? await askHidden(ctx, "API key (hidden): ")
    : await readTextStream(stdin.stream, "the key", ctx.signal, 65_536);
  return typed.trim();
}

/** The origin in force when a key is stored: the key is sent nowhere else. */
function originFor(ctx: Context, profile: string): string {
  const url =
    ctx.flags.baseUrl ?? ctx.host.env.RESEARCH_BASE_URL ?? ctx.store.read().profiles[profile]?.["base-url"];
  if (!url)
    throw new UsageError(
      "a key belongs to a base URL, and none is set",
      "First: research config set base-url URL",
    );
  return parseBaseUrl(url, true).origin;
}
