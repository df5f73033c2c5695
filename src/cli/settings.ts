import { isLoopback, parseBaseUrl } from "../client/http/address.js";
import { DEFAULT_GAPS, type Gaps } from "../protocol/endpoints.js";
import { isTier, type Tier } from "../protocol/limits.js";
import { DEFAULT_PROFILE, type Profile, type Store } from "../store/settings.js";
import { CliError, UsageError } from "./errors.js";
import { readTextFile } from "./input/bytes.js";

/** The global flags, as commander names them. */
export interface Globals {
  json?: boolean;
  profile?: string;
  baseUrl?: string;
  insecureHttp?: boolean;
  requestTimeout?: number;
  verbose?: boolean;
}

/** A value and where it comes from, for `config list` and `--verbose`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

export interface ResolvedSettings {
  profile: Sourced<string>;
  baseUrl: Sourced<string> | undefined;
  apiKey: (Sourced<string> & { boundTo: string | undefined }) | undefined;
  tier: Sourced<Tier> | undefined;
  history: Sourced<"on" | "off">;
  insecureHttp: boolean;
  gaps: { [Key in keyof Gaps]: Sourced<string> };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A key file of any service is a line; this keeps `/dev/zero` out. */
const KEY_FILE_BYTES = 65_536;

const GAP_KEYS = {
  statusMethod: "status-method",
  outputMethod: "output-method",
  outputPath: "output-path",
  outputField: "output-field",
} as const satisfies Record<keyof Gaps, string>;

/**
 * Settles each setting: flag, profile named by `--profile`, environment, profile in use, default. Throws
 * UsageError for a profile that is named and not there, LocalError for a key file that cannot be read.
 */
export function resolveSettings(flags: Globals, env: Environment, store: Store): ResolvedSettings {
  const inUse = env.RESEARCH_PROFILE
    ? { value: env.RESEARCH_PROFILE, source: "RESEARCH_PROFILE" }
    : store.profile
      ? { value: store.profile, source: "config use" }
      : { value: DEFAULT_PROFILE, source: "default" };
  const profile = flags.profile ? { value: flags.profile, source: "--profile" } : inUse;
  const stored: Profile | undefined = Object.hasOwn(store.profiles, profile.value)
    ? store.profiles[profile.value]
    : undefined;
  if (!stored && profile.source !== "default") {
    const known = Object.keys(store.profiles);
    const hint =
      known.length > 0 ? `There are: ${known.join(", ")}.` : "There is none yet: `research login` makes one.";
    throw new UsageError(
      `there is no profile ${JSON.stringify(profile.value)} (named by ${profile.source})`,
      hint,
    );
  }
  const fromProfile = (key: keyof Profile & string) => {
    const value = stored?.[key];
    return typeof value === "string" && value !== ""
      ? { value, source: `profile ${profile.value}` }
      : undefined;
  };
  // A profile that is named on the command line was meant; one that is merely in use gives way to the environment.
  const pick = (key: keyof Profile & string, environment: () => Sourced<string> | undefined) =>
    flags.profile ? (fromProfile(key) ?? environment()) : (environment() ?? fromProfile(key));

  const baseUrl = flags.baseUrl
    ? { value: flags.baseUrl, source: "--base-url" }
    : pick("base-url", () => fromEnvironment(env, "RESEARCH_BASE_URL"));
  const apiKey = pick("api-key", () => keyFromEnvironment(env));
  const ofProfile = apiKey?.source.startsWith("profile ") ?? false;
  const tier = fromProfile("tier");
  return {
    profile,
    baseUrl,
    apiKey: apiKey && { ...apiKey, boundTo: ofProfile ? (stored?.["api-key-origin"] ?? "") : undefined },
    tier: tier && isTier(tier.value) ? { value: tier.value, source: tier.source } : undefined,
    history: env.RESEARCH_NO_HISTORY
      ? { value: "off", source: "RESEARCH_NO_HISTORY" }
      : {
          value: stored?.history === "off" ? "off" : "on",
          source: fromProfile("history")?.source ?? "default",
        },
    insecureHttp: flags.insecureHttp ?? isOn(env.RESEARCH_INSECURE_HTTP),
    gaps: gaps((key) => fromProfile(key)),
  };
}

/** What a command needs to speak to the service. Throws CliError where it is not there. */
export interface Connection {
  baseUrl: string;
  origin: string;
  apiKey: string;
}

/** The base URL in force. Throws CliError `NOT_CONFIGURED`, or BaseUrlError for one that is none. */
export function requireBaseUrl(settings: ResolvedSettings): URL {
  if (!settings.baseUrl) {
    throw new CliError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Give --base-url URL, set RESEARCH_BASE_URL, or run `research login`. `research try` needs none.",
    });
  }
  return parseBaseUrl(settings.baseUrl.value, settings.insecureHttp);
}

/** The base URL and the key that may be sent there. Throws CliError `NOT_AUTHENTICATED` where there is none. */
export function requireConnection(settings: ResolvedSettings): Connection {
  const url = requireBaseUrl(settings);
  const { apiKey } = settings;
  if (!apiKey) {
    throw new CliError("NOT_AUTHENTICATED", `no API key for ${url.origin}`, {
      hint: "Set RESEARCH_API_KEY, name a file that holds it in RESEARCH_API_KEY_FILE, or run `research login`.",
    });
  }
  if (apiKey.boundTo !== undefined && apiKey.boundTo !== url.origin) {
    const owner = apiKey.boundTo || "no origin";
    throw new CliError(
      "NOT_AUTHENTICATED",
      `the stored key belongs to ${owner} and is not sent to ${url.origin} (the base URL comes from ${settings.baseUrl?.source})`,
      {
        hint: `Set RESEARCH_API_KEY or RESEARCH_API_KEY_FILE for ${url.origin}, or run \`research login --base-url ${url.origin}\`.`,
      },
    );
  }
  return { baseUrl: url.href, origin: url.origin, apiKey: apiKey.value };
}

/** As much of a key as may ever be shown. */
export function maskKey(key: string): string {
  return key.length > 8 ? `…${key.slice(-4)}` : "…";
}

/** Whether the key would leave this machine unencrypted. */
export function isPlainHttp(url: URL): boolean {
  return url.protocol === "http:" && !isLoopback(url.hostname);
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}

function fromEnvironment(env: Environment, name: string): Sourced<string> | undefined {
  const value = env[name];
  return value ? { value, source: name } : undefined;
}

function keyFromEnvironment(env: Environment): Sourced<string> | undefined {
  const direct = fromEnvironment(env, "RESEARCH_API_KEY");
  const path = env.RESEARCH_API_KEY_FILE;
  if (direct || !path) return direct && { ...direct, value: direct.value.trim() };
  return { value: readKeyFile(path), source: `RESEARCH_API_KEY_FILE (${path})` };
}

/** Reads a key from a file: its text without the white space around it. */
export function readKeyFile(path: string): string {
  return readTextFile(path, "the key file", KEY_FILE_BYTES).trim();
}

function gaps(
  stored: (key: (typeof GAP_KEYS)[keyof Gaps]) => Sourced<string> | undefined,
): ResolvedSettings["gaps"] {
  const one = (name: keyof Gaps) =>
    stored(GAP_KEYS[name]) ?? { value: DEFAULT_GAPS[name], source: "default" };
  return {
    statusMethod: one("statusMethod"),
    outputMethod: one("outputMethod"),
    outputPath: one("outputPath"),
    outputField: one("outputField"),
  };
}
