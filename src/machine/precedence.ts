import type { Environment } from "../store/folders.js";

/** The settings that a profile can hold, as `config set` names them. */
export const SETTING_NAMES = [
  "base-url",
  "api-key",
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

/** The base URL in force with a profile whose own one is `stored`. One that `--profile` names was meant; it beats the environment. */
export function baseUrlIn(
  choices: Choices,
  env: Environment,
  stored: Sourced<string> | undefined,
): Sourced<string> | undefined {
  if (choices.baseUrl) return { value: choices.baseUrl, source: "--base-url" };
  const variable = fromEnvironment(env, "RESEARCH_BASE_URL");
  return choices.profile ? (stored ?? variable) : (variable ?? stored);
}

/** A variable that is set and not empty. */
export function fromEnvironment(env: Environment, name: string): Sourced<string> | undefined {
  const value = env[name];
  return value ? { value, source: name } : undefined;
}
