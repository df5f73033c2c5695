import { PROVIDER_NAMES } from "../client/dialects/providers.js";
import { DEFAULT_GAPS } from "../core/protocol/conversation.js";
import { TIERS } from "../core/protocol/rate-limits.js";
import { PER_DAY_FORM } from "./resolve-settings.js";

/** A setting of a profile, for `config`, help and completion. `settings.ts` resolves it. */
export interface Setting {
  description: string;
  default?: string;
  choices?: readonly string[];
  /** The flags and variables with the same meaning. */
  flags?: readonly string[];
  variables?: readonly string[];
  /** The pattern of valid values, and its description. */
  form?: readonly [pattern: RegExp, words: string];
  /** Whether messages must not quote the value. */
  isSecret?: boolean;
}

const METHOD = [/^[A-Z]{1,16}$/, "an HTTP method in capitals, such as GET"] as const;

export const SETTINGS = {
  "base-url": {
    description: "the base URL of the service",
    flags: ["--base-url"],
    variables: ["RESEARCH_BASE_URL"],
  },
  "api-key": {
    description: "the API key; no flag takes a key",
    variables: ["RESEARCH_API_KEY", "RESEARCH_API_KEY_FILE"],
    form: [/^[\x21-\x7e]+$/, "visible ASCII characters without spaces"],
    isSecret: true,
  },
  provider: {
    description: `${PROVIDER_NAMES.slice(1).join(", ")}, or research for your own service`,
    choices: PROVIDER_NAMES,
    variables: ["RESEARCH_PROVIDER"],
  },
  model: {
    description: "the model of requests that are created at a provider",
    flags: ["--model"],
    form: [/\S/, "a model, preset, processor or effort, as the provider calls it"],
  },
  set: {
    description: "additional fields of the request that is sent to a provider, as a JSON object",
    flags: ["--set"],
  },
  tier: {
    description:
      "the tier of the key: free, pro or enterprise; it sets the hourly limit that commands do not exceed",
    choices: Object.keys(TIERS),
    flags: ["--tier", "--per-hour"],
  },
  "per-day": {
    description:
      "how many requests a key may create in 24 hours; if flag, variable and profile differ, the smallest number applies",
    flags: ["--per-day"],
    variables: ["RESEARCH_PER_DAY"],
    form: PER_DAY_FORM,
  },
  history: {
    description: "on, or off to keep no record of requests",
    default: "on",
    choices: ["on", "off"],
    variables: ["RESEARCH_NO_HISTORY"],
  },
  "status-method": {
    description: "the HTTP method of the request that reads a status",
    default: DEFAULT_GAPS.statusMethod,
    form: METHOD,
  },
  "output-method": {
    description: "the HTTP method of the request that reads a result",
    default: DEFAULT_GAPS.outputMethod,
    form: METHOD,
  },
  "output-path": {
    description: "the path of the request that reads a result",
    default: DEFAULT_GAPS.outputPath,
    form: [
      /^\/[\x21-\x7e]*\{request_id\}[\x21-\x7e]*$/,
      "a path that begins with / and contains {request_id}",
    ],
  },
  "output-field": {
    description: "the field of `data` in the service's response that holds the result",
    default: DEFAULT_GAPS.outputField,
    form: [/\S/, "the name of a field"],
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
