/** A value and where it comes from, for `config list` and `--verbose`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The global flags that choose where requests go. */
interface Chosen {
  profile?: string;
  baseUrl?: string;
}

/** The profile in use unless another is named. */
const DEFAULT_PROFILE = "default";

/** The profile that is named, or in use. It need not exist. */
export function profileIn(
  flags: Chosen,
  env: Environment,
  store: { profile?: string | undefined },
): Sourced<string> {
  if (flags.profile) return { value: flags.profile, source: "--profile" };
  const named = fromEnvironment(env, "RESEARCH_PROFILE");
  if (named) return named;
  return store.profile
    ? { value: store.profile, source: "config use" }
    : { value: DEFAULT_PROFILE, source: "default" };
}

/** The base URL in force with a profile whose own one is `stored`. One that `--profile` names was meant; it beats the environment. */
export function baseUrlIn(
  flags: Chosen,
  env: Environment,
  stored: Sourced<string> | undefined,
): Sourced<string> | undefined {
  if (flags.baseUrl) return { value: flags.baseUrl, source: "--base-url" };
  const variable = fromEnvironment(env, "RESEARCH_BASE_URL");
  return flags.profile ? (stored ?? variable) : (variable ?? stored);
}

/** A variable that is set and not empty. */
export function fromEnvironment(env: Environment, name: string): Sourced<string> | undefined {
  const value = env[name];
  return value ? { value, source: name } : undefined;
}
