import { isLoopback, parseBaseUrl } from "../client/http/address.js";
import { DEFAULT_GAPS, type Gaps } from "../protocol/endpoints.js";
import { isTier, type Tier } from "../protocol/limits.js";
import type { Profile, Store } from "../store/settings.js";
import { type Environment, switchIn } from "./environment.js";
import { CliError, UsageError } from "./errors.js";
import { type ReadKey, readKeyFile } from "./input/key-file.js";
import { baseUrlIn, fromEnvironment, profileIn, type Sourced } from "./settings/precedence.js";

/** The global flags, as commander names them. */
export interface Globals {
  json?: boolean;
  profile?: string;
  baseUrl?: string;
  insecureHttp?: boolean;
  requestTimeout?: number;
  verbose?: boolean;
}

export interface ResolvedSettings {
  profile: Sourced<string>;
  baseUrl: Sourced<string> | undefined;
  apiKey: (Sourced<string> & { boundTo: string | undefined }) | undefined;
  tier: Sourced<Tier> | undefined;
  history: Sourced<"on" | "off">;
  insecureHttp: Sourced<boolean>;
  gaps: { [Key in keyof Gaps]: Sourced<string> };
}

const GAP_KEYS = {
  statusMethod: "status-method",
  outputMethod: "output-method",
  outputPath: "output-path",
  outputField: "output-field",
} as const satisfies Record<keyof Gaps, string>;

/**
 * Resolves each setting: flag, profile named by `--profile`, environment, profile in use, default. Throws UsageError
 * for a profile that does not exist and for an unusable variable, LocalError for a key file that cannot be read.
 */
export function resolveSettings(
  flags: Globals,
  env: Environment,
  store: Store,
  readKey: ReadKey = readKeyFile,
): ResolvedSettings {
  const profile = profileIn(flags, env, store);
  const stored = existing(profile, store);
  const fromProfile = (key: keyof Profile & string) => {
    const value = stored?.[key];
    return typeof value === "string" && value !== ""
      ? { value, source: `profile ${profile.value}` }
      : undefined;
  };
  const baseUrl = baseUrlIn(flags, env, fromProfile("base-url"));
  const storedKey = fromProfile("api-key");
  const apiKey = (flags.profile && storedKey) || (keyFromEnvironment(env, readKey) ?? storedKey);
  const tier = fromProfile("tier");
  return {
    profile,
    baseUrl,
    apiKey: apiKey && {
      ...apiKey,
      boundTo: apiKey === storedKey ? (stored?.["api-key-origin"] ?? "") : undefined,
    },
    tier: tier && isTier(tier.value) ? { value: tier.value, source: tier.source } : undefined,
    history: historyIn(env, fromProfile("history")),
    insecureHttp: insecureHttpIn(flags, env),
    gaps: gaps(fromProfile),
  };
}

/** Whether plain http to another machine is allowed. Throws UsageError for an unusable variable. */
export function insecureHttpIn(flags: Globals, env: Environment): Sourced<boolean> {
  if (flags.insecureHttp !== undefined) return { value: flags.insecureHttp, source: "--insecure-http" };
  const value = switchIn(env, "RESEARCH_INSECURE_HTTP");
  return value === undefined
    ? { value: false, source: "default" }
    : { value, source: "RESEARCH_INSECURE_HTTP" };
}

function historyIn(env: Environment, stored: Sourced<string> | undefined): Sourced<"on" | "off"> {
  if (switchIn(env, "RESEARCH_NO_HISTORY")) return { value: "off", source: "RESEARCH_NO_HISTORY" };
  return { value: stored?.value === "off" ? "off" : "on", source: stored?.source ?? "default" };
}

function existing({ value, source }: Sourced<string>, store: Store): Profile | undefined {
  if (Object.hasOwn(store.profiles, value)) return store.profiles[value];
  if (source === "default") return undefined;
  const known = Object.keys(store.profiles);
  const hint =
    known.length > 0
      ? `There are: ${known.join(", ")}.`
      : "There are no profiles yet: `research login` makes one.";
  throw new UsageError(`there is no profile ${JSON.stringify(value)} (named by ${source})`, hint);
}

/** What a command needs to speak to the service. Throws CliError if it is missing. */
export interface Connection {
  baseUrl: string;
  origin: string;
  apiKey: string;
}

/** The base URL in force. Throws CliError `NOT_CONFIGURED`, or BaseUrlError for an invalid one. */
export function requireBaseUrl(settings: ResolvedSettings): URL {
  if (!settings.baseUrl) {
    throw new CliError("NOT_CONFIGURED", "no base URL is configured", {
      hint: "Give --base-url URL, set RESEARCH_BASE_URL, or run `research login`. `research try` needs no base URL.",
    });
  }
  return parseBaseUrl(settings.baseUrl.value, settings.insecureHttp.value);
}

/** The base URL and the key that may be sent there. Throws CliError `NOT_AUTHENTICATED` if there is no such key. */
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

function keyFromEnvironment(env: Environment, readKey: ReadKey): Sourced<string> | undefined {
  const direct = fromEnvironment(env, "RESEARCH_API_KEY");
  const path = env.RESEARCH_API_KEY_FILE;
  if (direct || !path) return direct && { ...direct, value: direct.value.trim() };
  return { value: readKey(path), source: `RESEARCH_API_KEY_FILE (${path})` };
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
