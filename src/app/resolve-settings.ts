import * as fs from "node:fs";
import { findProvider, INTERFACE, PROVIDER_NAMES, suggestProvider } from "../client/dialects/providers.js";
import { type Profile, SettingsFile, type StoredSettings } from "../client/store/settings-file.js";
import { type Clock, runWithDeadline } from "../core/clock.js";
import { type Environment, LocalError } from "../core/files/local-error.js";
import type { UserFolders } from "../core/files/user-folders.js";
import { parseBaseUrl } from "../core/http/base-url-and-proxy.js";
import { DEFAULT_GAPS, type Gaps } from "../core/protocol/conversation.js";
import { isTier, type Tier } from "../core/protocol/rate-limits.js";
import { CodedError, UsageError } from "./errors.js";
import { MAX_KEY_BYTES, readSmallFile, readText } from "./read-text.js";

/** A value and where it comes from, for `config list` and `--verbose`. */
export interface SettingValue<T> {
  value: T;
  source: string;
}

/** The settings that a command's flags, or the library's options, choose. */
export interface SettingChoices {
  profile?: string;
  /** The flag that named the profile, for messages; default: `--profile`. */
  profileFlag?: string;
  /** Whether the key in the environment was given for that profile. */
  hasOwnKey?: boolean;
  baseUrl?: string;
  /** The name of a provider, or of the interface itself. It chooses the base URL. */
  provider?: string;
  insecureHttp?: boolean;
  /** Timeout of one exchange in milliseconds. */
  requestTimeout?: number;
  perDay?: number;
}

export const DEFAULT_PROFILE = "default";

/** Returns the name of the chosen profile, which need not exist. */
export function chooseProfile(
  choices: SettingChoices,
  env: Environment,
  store: { profile?: string | undefined },
): SettingValue<string> {
  if (choices.profile) return { value: choices.profile, source: choices.profileFlag ?? "--profile" };
  const named = readSettingVariable(env, "RESEARCH_PROFILE");
  if (named) return named;
  return store.profile ? { value: store.profile, source: "config use" } : buildDefaultValue(DEFAULT_PROFILE);
}

/** The service in use. Its provider and base URL come from the same source. */
export type SettingsOrigin = ReturnType<typeof chooseSettingsOrigin>;

/** Chooses the service. `storedProfile` is the profile `name`; it takes precedence over the environment if `--profile` names it. */
export function chooseSettingsOrigin(
  choices: SettingChoices,
  env: Environment,
  name: string,
  storedProfile: Profile | undefined,
) {
  const sourceFromProfile = (value: string | undefined) =>
    value ? { value, source: `profile ${name}` } : undefined;
  const variables = {
    baseUrl: readSettingVariable(env, "RESEARCH_BASE_URL"),
    provider: readSettingVariable(env, "RESEARCH_PROVIDER"),
  };
  const chosen = {
    baseUrl: choices.baseUrl ? { value: choices.baseUrl, source: "--base-url" } : undefined,
    provider: choices.provider ? { value: choices.provider, source: "--provider" } : undefined,
  };
  const profile = {
    baseUrl: sourceFromProfile(storedProfile?.["base-url"]),
    provider: sourceFromProfile(storedProfile?.provider),
  };
  const others = choices.profile ? [profile, variables] : [variables, profile];
  const flags = { ...chosen, provider: chosen.provider ?? variables.provider };
  const order = [...(chosen.baseUrl || chosen.provider ? [flags] : []), ...others];
  const source = order.find((candidate) => candidate.baseUrl || candidate.provider) ?? profile;
  const { baseUrl, provider } = source;
  const named = provider ?? buildDefaultValue(INTERFACE);
  const namedProvider = findProvider(named.value);
  return {
    provider: named,
    baseUrl:
      baseUrl ??
      (namedProvider && { value: namedProvider.baseUrl, source: `provider ${namedProvider.name}` }),
    isStored: source === profile,
  };
}

export function readSettingVariable(env: Environment, name: string): SettingValue<string> | undefined {
  const value = env[name];
  return value ? { value, source: name } : undefined;
}

/** Reads the settings for completion: without notices or repairs, and as if unusable ones were not set. `origin`: of the service in use, if any. */
export function readStoredSettings(folder: UserFolders["config"], env: Environment, choices: SettingChoices) {
  let store: StoredSettings = { profiles: {} };
  try {
    store = new SettingsFile(folder, undefined).read();
  } catch {
    // Go on as if no settings were stored.
  }
  const { profiles } = store;
  const name = chooseProfile(choices, env, store).value;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  return {
    profiles: Object.keys(profiles),
    origin: parseOrigin(chooseSettingsOrigin(choices, env, name, profile).baseUrl?.value),
    keepsHistory: profile?.history !== "off" && !ON.test(env.RESEARCH_NO_HISTORY ?? ""),
  };
}

export interface ResolvedSettings {
  profile: SettingValue<string>;
  /** The name of a provider, or of the interface itself. */
  provider: SettingValue<string>;
  /** The default model of a create call; only the profile of a provider can have one. */
  model: SettingValue<string> | undefined;
  /** Options of a create call, in the format of `--set`. */
  set: SettingValue<string> | undefined;
  baseUrl: SettingValue<string> | undefined;
  /** The key, read on first use. Unless `boundTo` is undefined, it may go to that origin only. Throws LocalError or UsageError for an unreadable key file. */
  readonly apiKey: (SettingValue<string> & { boundTo: string | undefined }) | undefined;
  tier: SettingValue<Tier> | undefined;
  /** Maximum number of create calls in 24 hours: the smallest of all values that are set. */
  perDay: SettingValue<number> | undefined;
  history: SettingValue<"on" | "off">;
  insecureHttp: SettingValue<boolean>;
  gaps: { [Key in keyof Gaps]: SettingValue<string> };
}

/** Resolves each setting (contract §2). Throws UsageError for a missing profile or an invalid variable. */
export function resolveSettings(
  choices: SettingChoices,
  env: Environment,
  store: StoredSettings,
  readKey: ReadKeyFile = readKeyFile,
): ResolvedSettings {
  const profile = chooseProfile(choices, env, store);
  if (/^index$/i.test(profile.value))
    throw new UsageError(
      "a profile cannot be named index",
      "`compare` keeps its index.md beside a file for each profile.",
    );
  const stored = findStoredProfile(profile, store);
  const readFromProfile = (key: keyof Profile & string) => {
    const value = stored?.[key];
    return typeof value === "string" && value !== ""
      ? { value, source: `profile ${profile.value}` }
      : undefined;
  };
  const { provider, baseUrl, isStored } = chooseSettingsOrigin(choices, env, profile.value, stored);
  requireKnownProvider(provider);
  // The profile's key belongs to the profile's provider. No other provider ever gets it, at any address.
  const isOfProfile = (readFromProfile("provider")?.value ?? INTERFACE) === provider.value;
  const storedKey = isOfProfile ? readFromProfile("api-key") : undefined;
  const takesModels = isStored && provider.value !== INTERFACE;
  let apiKey: ResolvedSettings["apiKey"] | null = null;
  const tier = readFromProfile("tier");
  return {
    profile,
    provider,
    model: takesModels ? readFromProfile("model") : undefined,
    set: takesModels ? readFromProfile("set") : undefined,
    baseUrl,
    get apiKey() {
      if (apiKey !== null) return apiKey;
      const origin = parseOrigin(baseUrl?.value);
      const profileKey = storedKey && { ...storedKey, boundTo: stored?.["api-key-origin"] ?? "" };
      // The origin to which RESEARCH_API_KEY belongs, by RESEARCH_BASE_URL or RESEARCH_PROVIDER; undefined if neither is set.
      const boundTo = parseOrigin(
        env.RESEARCH_BASE_URL || findProvider(env.RESEARCH_PROVIDER ?? "")?.baseUrl,
      );
      // Contract §2: other variables determine to which origin RESEARCH_API_KEY may go. --profile names another account.
      const isForIt = choices.hasOwnKey || (boundTo === undefined ? !choices.profile : boundTo === origin);
      const listNamed = () => {
        const key = isForIt ? readEnvironmentKey(env, readKey) : undefined;
        return key && { ...key, boundTo: undefined };
      };
      const withheld = KEY_VARIABLES.find((name) => env[name]);
      apiKey =
        (choices.profile ? (profileKey ?? listNamed()) : (listNamed() ?? profileKey)) ??
        readProviderKey(provider.value, origin, env) ??
        (withheld === undefined ? undefined : { value: "", source: withheld, boundTo: boundTo ?? "" });
      return apiKey;
    },
    tier: tier && isTier(tier.value) ? { value: tier.value, source: tier.source } : undefined,
    perDay: chooseDailyLimit(choices, [
      readSettingVariable(env, "RESEARCH_PER_DAY"),
      readFromProfile("per-day"),
    ]),
    history: chooseHistorySetting(env, readFromProfile("history")),
    insecureHttp: chooseInsecureHttp(choices, env),
    gaps: {
      statusMethod: readFromProfile("status-method") ?? buildDefaultValue(DEFAULT_GAPS.statusMethod),
      outputMethod: readFromProfile("output-method") ?? buildDefaultValue(DEFAULT_GAPS.outputMethod),
      outputPath: readFromProfile("output-path") ?? buildDefaultValue(DEFAULT_GAPS.outputPath),
      outputField: readFromProfile("output-field") ?? buildDefaultValue(DEFAULT_GAPS.outputField),
    },
  };
}

/** Throws UsageError for an unknown provider. */
export function requireKnownProvider({ value, source }: SettingValue<string>): void {
  if (PROVIDER_NAMES.includes(value)) return;
  throw new UsageError(
    `unknown provider ${JSON.stringify(value)} (named by ${source})`,
    `The providers are: ${PROVIDER_NAMES.join(", ")}. \`research help providers\` describes them.`,
  );
}

/** Returns the origin of an address; undefined for an invalid or missing address. */
export function parseOrigin(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

const KEY_VARIABLES = ["RESEARCH_API_KEY", "RESEARCH_API_KEY_FILE"];

/** Returns the key in the variable of a provider's own tools. That key may only go to the provider's own origin. */
function readProviderKey(
  name: string,
  origin: string | undefined,
  env: Environment,
): ResolvedSettings["apiKey"] {
  const provider = findProvider(name);
  const { keyVariable = "", otherKeyVariable = "" } = provider ?? {};
  const key = readSettingVariable(env, keyVariable) ?? readSettingVariable(env, otherKeyVariable);
  if (!key || origin !== provider?.baseUrl) return undefined;
  return { ...key, value: key.value.trim(), boundTo: undefined };
}

/** Chooses the smallest daily limit that is set. Throws UsageError for an invalid limit, because ignoring it would allow every create call. */
function chooseDailyLimit(
  { perDay }: SettingChoices,
  set: readonly (SettingValue<string> | undefined)[],
): SettingValue<number> | undefined {
  const [form, words] = PER_DAY_FORM;
  const given = perDay === undefined ? undefined : { value: String(perDay), source: "--per-day" };
  const limits = [given, ...set].flatMap((limit) => {
    if (!limit) return [];
    const { value, source } = limit;
    if (form.test(value)) return [{ value: Number(value), source }];
    const what = `invalid value for per-day: ${JSON.stringify(value)} (from ${source})`;
    throw new UsageError(what, `The value must be ${words}.`);
  });
  return limits.sort((a, b) => a.value - b.value)[0];
}

export const PER_DAY_FORM = [
  /^[1-9]\d{0,8}$/,
  "a whole number, 1 or more: the number of create requests allowed in 24 hours",
] as const;

/** Returns whether plain http to another machine is allowed. Throws UsageError for an invalid variable. */
export function chooseInsecureHttp(choices: SettingChoices, env: Environment): SettingValue<boolean> {
  if (choices.insecureHttp !== undefined) return { value: choices.insecureHttp, source: "--insecure-http" };
  const value = readSwitchVariable(env, "RESEARCH_INSECURE_HTTP");
  return value === undefined ? buildDefaultValue(false) : { value, source: "RESEARCH_INSECURE_HTTP" };
}

function chooseHistorySetting(
  env: Environment,
  stored: SettingValue<string> | undefined,
): SettingValue<"on" | "off"> {
  if (readSwitchVariable(env, "RESEARCH_NO_HISTORY")) return { value: "off", source: "RESEARCH_NO_HISTORY" };
  return { value: stored?.value === "off" ? "off" : "on", source: stored?.source ?? "default" };
}

/** Returns a stored profile; undefined for a default profile that is not stored. Throws UsageError for any other unknown name. */
export function findStoredProfile(
  { value, source }: SettingValue<string>,
  store: StoredSettings,
): Profile | undefined {
  if (Object.hasOwn(store.profiles, value)) return store.profiles[value];
  if (source === "default") return undefined;
  const names = Object.keys(store.profiles);
  throw new UsageError(
    `unknown profile ${JSON.stringify(value)} (named by ${source})`,
    `${names.length > 0 ? `The profiles are ${names.join(", ")}` : "There are no profiles yet"}; \`research login -p NAME\` creates one.`,
  );
}

/** Returns the base URL in use. Throws CodedError `NOT_CONFIGURED` if there is none, or BaseUrlError for an invalid one. */
export function requireBaseUrl(settings: ResolvedSettings): URL {
  if (!settings.baseUrl) {
    throw new CodedError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Run `research login openai` (or perplexity, exa, parallel, gemini, tavily), or pass --base-url URL for your own service. In CI, set a key and RESEARCH_PROVIDER, or RESEARCH_BASE_URL for your own service. `research try` needs no account.",
    });
  }
  return parseBaseUrl(settings.baseUrl.value, settings.insecureHttp.value);
}

/** Returns the base URL and the key that may be sent to it. Throws CodedError `NOT_AUTHENTICATED` if there is no such key. */
export function requireConnection(settings: ResolvedSettings) {
  const url = requireBaseUrl(settings);
  const { apiKey } = settings;
  if (!apiKey) {
    const provider = findProvider(settings.provider.value);
    const variable =
      provider?.baseUrl === url.origin ? `${provider.keyVariable} or RESEARCH_API_KEY` : "RESEARCH_API_KEY";
    const hint = `Set ${variable}, name a file that holds it in RESEARCH_API_KEY_FILE, or run \`${buildLoginCommand(settings)}\`.`;
    throw new CodedError("NOT_AUTHENTICATED", `no API key for ${url.origin}`, {
      hint: suggestProvider(url.origin, settings.provider.value) ?? hint,
    });
  }
  if (apiKey.boundTo !== undefined && apiKey.boundTo !== url.origin) {
    const isVariable = KEY_VARIABLES.includes(apiKey.source);
    const [key, owner] = isVariable
      ? [`the key in ${apiKey.source}`, apiKey.boundTo || "what RESEARCH_BASE_URL or RESEARCH_PROVIDER names"]
      : ["the stored key", apiKey.boundTo || "no origin"];
    const whose = settings.provider.value === INTERFACE ? "" : ` ${settings.provider.value}`;
    throw new CodedError(
      "NOT_AUTHENTICATED",
      `${key} belongs to ${owner} and is not sent to ${url.origin} (the base URL comes from ${settings.baseUrl?.source})`,
      {
        hint: isVariable
          ? `Run \`research login -p ${settings.profile.value}\` to store a key for it.`
          : `Set RESEARCH_API_KEY or RESEARCH_API_KEY_FILE for ${url.origin}, or run \`research login${whose} --base-url ${settings.baseUrl?.value} -p NAME\`.`,
      },
    );
  }
  return { baseUrl: url.href, origin: url.origin, apiKey: apiKey.value };
}

/** Returns the command that stores another key for the account in use. */
export function buildLoginCommand({
  provider,
  baseUrl,
  profile: { value: profile },
}: ResolvedSettings): string {
  const isOfProfile = [provider.source, baseUrl?.source].includes(`profile ${profile}`);
  const isOwn = findProvider(provider.value)?.baseUrl === parseOrigin(baseUrl?.value);
  if (isOfProfile && !(isOwn && profile === provider.value))
    return profile === DEFAULT_PROFILE ? "research login" : `research login -p ${profile}`;
  return provider.value === INTERFACE ? "research login" : `research login ${provider.value}`;
}

/** Shortens a key to its last four characters, which may be shown. */
export function maskKey(key: string): string {
  return key.length > 8 ? `…${key.slice(-4)}` : "…";
}

function readEnvironmentKey(env: Environment, readKey: ReadKeyFile): SettingValue<string> | undefined {
  const direct = readSettingVariable(env, "RESEARCH_API_KEY");
  const path = env.RESEARCH_API_KEY_FILE;
  if (direct || !path) return direct && { ...direct, value: direct.value.trim() };
  return { value: readKey(path), source: `RESEARCH_API_KEY_FILE (${path})` };
}

function buildDefaultValue<T>(value: T): SettingValue<T> {
  return { value, source: "default" };
}

const ON = /^(?:1|true|yes)$/;
const OFF = /^(?:0|false|no)$/;

/** Returns whether a variable turns something on; undefined if it is unset or empty. Throws UsageError for an invalid value. */
export function readSwitchVariable(env: Environment, name: string): boolean | undefined {
  const value = env[name];
  if (!value) return undefined;
  if (ON.test(value) || OFF.test(value)) return ON.test(value);
  throw new UsageError(
    `invalid value for ${name}: ${JSON.stringify(value)}`,
    "The value must be 1, true or yes, or 0, false or no.",
  );
}

/** How long to wait for a program that writes the key, as in `RESEARCH_API_KEY_FILE=<(pass show research)`, in ms. */
const KEY_WAIT_MS = 10_000;

/** Returns the key in a file, without white space around it. Throws LocalError or UsageError. */
export type ReadKeyFile = (path: string) => string;

export const readKeyFile: ReadKeyFile = (path) => readSmallFile(path, "the key file", MAX_KEY_BYTES).trim();

/** Creates the function that reads the key file. Reads a FIFO at once, and throws its error on use. Rejects with `signal.reason`. */
export async function createKeyFileReader(
  env: Environment,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadKeyFile> {
  const path = env.RESEARCH_API_KEY_FILE;
  if (!path || env.RESEARCH_API_KEY || !isFifo(path)) return readKeyFile;
  const read = await readKeyWithTimeout(path, clock, signal).then(
    (key) => () => key,
    (error: unknown) => () => {
      throw error;
    },
  );
  signal.throwIfAborted();
  return read;
}

/** Reads a key from a file or a FIFO, for at most ten seconds. Rejects with LocalError, UsageError or `signal.reason`. */
export async function readKeyWithTimeout(path: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const why = `the key file ${path} could not be read: nothing came within ${KEY_WAIT_MS / 1_000} s`;
  const read = (both: AbortSignal) => readText(path, "the key file", both, MAX_KEY_BYTES);
  return (await runWithDeadline(clock, KEY_WAIT_MS, signal, new LocalError(why), read)).trim();
}

/** Returns whether a path is a FIFO; false if it cannot be inspected, because reading the key then gives the reason. */
function isFifo(path: string): boolean {
  try {
    return fs.statSync(path).isFIFO();
  } catch {
    return false;
  }
}
