import { CodedError, UsageError } from "../../../app/errors.js";
import { parseSetOptions } from "../../../app/provider-options.js";
import { MAX_KEY_BYTES, readText } from "../../../app/read-text.js";
import {
  chooseInsecureHttp,
  chooseProfile,
  chooseSettingsOrigin,
  findStoredProfile,
  maskKey,
  parseOrigin,
  requireKnownProvider,
  type SettingsOrigin,
  type SettingValue,
} from "../../../app/resolve-settings.js";
import { SETTINGS, type Setting, type SettingName } from "../../../app/setting-table.js";
import { checkProviderOptions } from "../../../client/dialects/build-request.js";
import { findProvider } from "../../../client/dialects/providers.js";
import { NO_FOLDER, type Profile, type StoredSettings } from "../../../client/store/settings-file.js";
import { LocalError } from "../../../core/files/local-error.js";
import { parseBaseUrl } from "../../../core/http/base-url-and-proxy.js";
import { escapeLine } from "../../../core/text/safe-text.js";
import { measureColumns } from "../../../core/text/text-width.js";
import type { Context } from "../../command-context.js";
import { askQuestion } from "../../terminal/prompts.js";

export async function runConfigGet(ctx: Context, name: string): Promise<void> {
  const key = requireSettingName(name);
  const setting = resolveProfileInForce(ctx)[key];
  if (!setting)
    throw new CodedError("NOT_FOUND", `${key} is not set`, {
      hint: `Set it: research config set ${key} VALUE`,
    });
  await ctx.reporter.show({ [key]: setting }, `${escapeLine(setting.value)}\n`);
}

/** Widths of columns that fit most settings and values, and leave room for the source in 60 columns. */
const WIDTHS = [13, 28];

export async function runConfigList(ctx: Context): Promise<void> {
  const all = Object.entries(resolveProfileInForce(ctx)).map(
    ([key, setting]) => [key, setting ?? null] as const,
  );
  const rows = all.map(([key, setting]) => [
    key,
    setting ? escapeLine(setting.value) : "-",
    setting ? escapeLine(setting.source) : "not set",
  ]);
  const accounts = ctx.accounts.map(({ settings: { profile, provider, baseUrl } }) => ({
    ...{ profile: profile.value, provider: provider.value, base_url: baseUrl?.value ?? "" },
    in_use: profile.value === ctx.settings.profile.value,
  }));
  for (const { profile, base_url, in_use } of accounts)
    rows.push(["account", escapeLine(base_url), in_use ? `${profile}, in use` : profile]);
  const padCell = (cell: string, i: number) =>
    cell + " ".repeat(Math.max(0, (WIDTHS[i] ?? 0) - measureColumns(cell)));
  const lines = rows.map((row) => (ctx.host.stdout.isTTY ? row.map(padCell).join("  ") : row.join("\t")));
  await ctx.reporter.showFitted(
    { ...Object.fromEntries(all), accounts },
    lines.map((line) => `${line}\n`).join(""),
  );
}

/** Stores a setting in the profile in use. A key without a value is read from a hidden prompt or from stdin. */
export async function runConfigSet(ctx: Context, name: string, given: string | undefined): Promise<void> {
  const key = requireSettingName(name);
  const question = ctx.host.stdin.isTTY ? "API key (hidden):" : undefined;
  const value = given ?? (key === "api-key" ? await askForKey(ctx, question) : undefined);
  if (value === undefined) throw new UsageError(`${key} needs a value`, `research config set ${key} VALUE`);
  const profile = findProfileToChange(ctx);
  await checkSettingValue(ctx, key, value, profile);
  const binding = key === "api-key" ? { "api-key-origin": requireKeyOrigin(profile.site) } : {};
  await editProfile(ctx, profile.name, (stored) => void Object.assign(stored, { [key]: value }, binding));
  if (key === "api-key" && given !== undefined) {
    await ctx.reporter.writeNotice(
      "KEY_ON_COMMAND_LINE",
      "a key on the command line can be seen by others and stays in the shell's history; leave the value out to be prompted",
    );
  }
}

export async function runConfigUnset(ctx: Context, name: string): Promise<void> {
  const key = requireSettingName(name);
  await editProfile(ctx, findProfileToChange(ctx).name, (stored) => {
    delete stored[key];
    if (key === "api-key") delete stored["api-key-origin"];
  });
}

export async function runConfigUse(ctx: Context, name: string): Promise<void> {
  findStoredProfile({ value: name, source: "config use" }, ctx.store.read());
  await ctx.store.update((stored) => {
    stored.profile = name;
  });
}

export async function runConfigPath(ctx: Context): Promise<void> {
  const { path } = ctx.store;
  if (!path) throw new LocalError(NO_FOLDER);
  await ctx.reporter.show({ path }, `${path}\n`);
}

function resolveProfileInForce(
  ctx: Context,
): Record<SettingName | "profile" | "insecure-http", SettingValue<string> | undefined> {
  const { profile, provider, model, set, baseUrl, apiKey, tier, perDay, history, insecureHttp, gaps } =
    ctx.settings;
  return {
    profile,
    "base-url": baseUrl,
    "api-key": apiKey && { value: maskKey(apiKey.value), source: `${apiKey.source}${explainUnusedKey(ctx)}` },
    tier,
    "per-day": perDay && { ...perDay, value: String(perDay.value) },
    provider,
    model,
    set,
    history,
    "insecure-http": { value: insecureHttp.value ? "on" : "off", source: insecureHttp.source },
    "status-method": gaps.statusMethod,
    "output-method": gaps.outputMethod,
    "output-path": gaps.outputPath,
    "output-field": gaps.outputField,
  };
}

/** Explains that a stored key is not in use, because it belongs to another origin; otherwise returns an empty text. */
function explainUnusedKey({ settings: { apiKey, baseUrl } }: Context): string {
  if (apiKey?.boundTo === undefined || baseUrl === undefined) return "";
  return parseOrigin(baseUrl.value) === apiKey.boundTo
    ? ""
    : `, not in use: it is for ${apiKey.boundTo || "no origin"}`;
}

function requireSettingName(name: string): SettingName {
  if (Object.hasOwn(SETTINGS, name)) return name as SettingName;
  throw new UsageError(
    `unknown setting ${JSON.stringify(name)}`,
    `The settings are: ${Object.keys(SETTINGS).join(", ")}.`,
  );
}

async function checkSettingValue(
  ctx: Context,
  key: SettingName,
  value: string,
  { storedProfile, site }: ChangedProfile,
): Promise<void> {
  if (key === "base-url") parseBaseUrl(value, chooseInsecureHttp(ctx.flags, ctx.host.env).value);
  if (key === "provider") requireKnownProvider({ value, source: "config set" });
  if (key === "set") {
    const [options, provider] = [parseSetOptions(value), findProvider(site.provider.value)];
    // These calls throw InputError for a field of a create call that research sets itself.
    if (!provider) checkProviderOptions("any provider", options);
    else
      (await provider.load(storedProfile?.model ?? provider.defaultModel)).create({ prompt: "x", options });
  }
  const { choices, form, isSecret }: Setting = SETTINGS[key];
  const isValid = choices?.includes(value) ?? form?.[0].test(value) ?? true;
  if (isValid) return;
  const words = choices?.join(", ").replace(/, (?=[^,]*$)/, " or ") ?? form?.[1];
  throw new UsageError(`invalid value for ${key}${isSecret ? "" : `: ${escapeLine(value)}`} (${words})`);
}

/** Reads a key from the hidden answer to `question`, or from stdin without a question. */
export async function askForKey(ctx: Context, question: string | undefined): Promise<string> {
  const typed =
    question === undefined
      ? await readText(ctx.host.stdin.stream, "the key", ctx.signal, MAX_KEY_BYTES)
      : await askQuestion(ctx, question, { hidden: true });
  return typed.trim();
}

/** Returns the origin to store with a key, so that the key is never sent to another one. Throws UsageError without a base URL. */
function requireKeyOrigin({ baseUrl }: SettingsOrigin): string {
  if (baseUrl) return parseBaseUrl(baseUrl.value, true).origin;
  throw new UsageError(
    "a key needs a base URL, and none is set",
    "First run: research config set base-url URL",
  );
}

type ChangedProfile = ReturnType<typeof findProfileToChange>;

/**
 * Returns the profile to change, which need not exist. `site`: the service in use with that profile or with `provider`.
 * `before`: the profile that `config use` chose, if it exists. Throws UsageError for an invalid name.
 */
export function findProfileToChange(
  { flags, host: { env }, store }: Context,
  named?: string,
  provider?: string,
) {
  const stored = store.read();
  const name = named ?? chooseProfile(flags, env, stored).value;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || name in {}) {
    throw new UsageError(
      `invalid name for a profile: ${JSON.stringify(name)}`,
      "Use letters, digits, `.`, `_` and `-`.",
    );
  }
  const profile = stored.profiles[name];
  const inUse = chooseProfile({}, {}, stored).value;
  const before = Object.hasOwn(stored.profiles, inUse) ? inUse : undefined;
  return {
    name,
    storedProfile: profile,
    site: chooseSettingsOrigin({ ...flags, ...(provider && { provider }) }, env, name, profile),
    before,
  };
}

/** Changes one profile of the stored settings. If it rejects with LocalError, the settings are unchanged. */
export async function editProfile(
  ctx: Context,
  name: string,
  edit: (profile: Profile, stored: StoredSettings) => void,
): Promise<void> {
  await ctx.store.update((stored) => {
    const profile = stored.profiles[name] ?? {};
    edit(profile, stored);
    stored.profiles[name] = profile;
  });
}
