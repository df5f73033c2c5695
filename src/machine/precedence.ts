import { INTERFACE, providerNamed } from "../dialects/providers.js";
import type { Environment } from "../store/folders.js";

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
  if (choices.profile) return { value: choices.profile, source: "--profile" };
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

/**
 * The service in force with a profile that holds `stored`. One that `--profile` names was meant; it beats the
 * environment. A base URL without a provider is of the interface itself, a provider without one has its own.
 */
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
