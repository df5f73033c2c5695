import { INTERFACE, providerNamed } from "../dialects/providers.js";
import type { Environment, Folders } from "../store/folders.js";
import { type Profile, Settings, type Store } from "../store/settings.js";

/** The settings that a profile can hold, as `config set` names them. */
export const SETTING_NAMES = [
  "base-url",
  "api-key",
  "provider",
  "model",
  "set",
  "tier",
  "history",
  "status-method",
  "output-method",
  "output-path",
  "output-field",
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];

/** A value and where it comes from, for `config list` and `--verbose`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

/** What flags of a command, or options of the library, choose of the settings. */
export interface Choices {
  profile?: string;
  /** The flag that named the profile, for messages; default `--profile`. */
  profileFlag?: string;
  baseUrl?: string;
  /** A provider of `providers.ts`, or the interface itself; what is chosen with it is the base URL. */
  provider?: string;
  insecureHttp?: boolean;
  /** Milliseconds for one exchange. */
  requestTimeout?: number;
}

/** The profile in use unless another is named. */
const DEFAULT_PROFILE = "default";

/** The profile that is named, or in use. It need not exist. */
export function profileIn(
  choices: Choices,
  env: Environment,
  store: { profile?: string | undefined },
): Sourced<string> {
  if (choices.profile) return { value: choices.profile, source: choices.profileFlag ?? "--profile" };
  const named = fromEnvironment(env, "RESEARCH_PROFILE");
  if (named) return named;
  return store.profile
    ? { value: store.profile, source: "config use" }
    : { value: DEFAULT_PROFILE, source: "default" };
}

/** Which service is spoken to: both come from one source. */
export interface Site {
  provider: Sourced<string>;
  baseUrl: Sourced<string> | undefined;
  /** Whether the profile decided. */
  isStored: boolean;
}

/** The service in force with a profile that holds `stored`, which beats the environment if `--profile` names it. */
export function siteIn(
  choices: Choices,
  env: Environment,
  stored: { baseUrl: Sourced<string> | undefined; provider: Sourced<string> | undefined },
): Site {
  const variables = {
    baseUrl: fromEnvironment(env, "RESEARCH_BASE_URL"),
    provider: fromEnvironment(env, "RESEARCH_PROVIDER"),
  };
  const chosen = {
    baseUrl: choices.baseUrl ? { value: choices.baseUrl, source: "--base-url" } : undefined,
    provider: choices.provider ? { value: choices.provider, source: "--provider" } : undefined,
  };
  const profile = { ...stored, isStored: true };
  const others = choices.profile ? [profile, variables] : [variables, profile];
  const flags = { ...chosen, provider: chosen.provider ?? variables.provider };
  const order = [...(chosen.baseUrl || chosen.provider ? [flags] : []), ...others];
  const { baseUrl, provider, ...site } = order.find((one) => one.baseUrl || one.provider) ?? profile;
  const named = provider ?? { value: INTERFACE, source: "default" };
  const own = providerNamed(named.value);
  return {
    provider: named,
    baseUrl: baseUrl ?? (own && { value: own.baseUrl, source: `provider ${own.name}` }),
    isStored: "isStored" in site,
  };
}

/** A variable that is set and not empty. */
export function fromEnvironment(env: Environment, name: string): Sourced<string> | undefined {
  const value = env[name];
  return value ? { value, source: name } : undefined;
}

/** What completion has to know of the settings. */
export interface StoredSettings {
  profiles: string[];
  /** The origin in force; undefined if no usable base URL is configured. */
  origin: string | undefined;
  keepsHistory: boolean;
}

/** Reads the settings as completion needs them: without a notice or a repair, and as if unset where they are unusable. */
export function readStored(folder: Folders["config"], env: Environment, choices: Choices): StoredSettings {
  const store = storeIn(folder);
  const { profiles } = store;
  const name = profileIn(choices, env, store).value;
  const own: Profile = Object.hasOwn(profiles, name) ? (profiles[name] ?? {}) : {};
  const sourced = (value: string | undefined) => (value ? { value, source: "" } : undefined);
  const stored = { baseUrl: sourced(own["base-url"]), provider: sourced(own.provider) };
  const url = siteIn(choices, env, stored).baseUrl?.value;
  return {
    profiles: Object.keys(profiles),
    origin: url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined,
    keepsHistory: own.history !== "off" && !/^(?:1|true|yes)$/i.test(env.RESEARCH_NO_HISTORY ?? ""),
  };
}

function storeIn(folder: string | undefined): Store {
  try {
    return new Settings(folder, undefined).read();
  } catch {
    return { profiles: {} };
  }
}
