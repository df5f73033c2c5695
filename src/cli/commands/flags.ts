import { InvalidArgumentError } from "commander";
import { TIERS, type Tier } from "../../protocol/limits.js";
import { parseDuration } from "../../text/duration.js";
import type { OptionsOf, Value } from "./definition.js";

type Given<T> = Value<T> & { before: T };

/** A flag whose value `parse` reads; with `before` its value if it is not given. */
export function value<T>(description: string, parse: (text: string) => T): Value<T>;
export function value<T>(description: string, parse: (text: string) => T, before: T): Given<T>;
export function value<T>(description: string, parse: (text: string) => T, before?: T): Value<T> {
  return { description, parse, ...(before !== undefined && { before }) };
}

/** A flag that takes one of some words. */
export function choice<const T extends string>(description: string, choices: readonly T[]): Value<T> {
  return { description, choices };
}

/** A flag that may be given more than once. */
export function repeatable(description: string): Given<string[]> {
  return { description, parse: (text, before) => [...before, text], before: [] };
}

/** A duration as commander reads it, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError("Invalid duration: use 500ms, 30s, 10m, 2h, 3d or a number of seconds.");
  return ms;
}

/** A duration that is more than nothing. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms <= 0) throw new InvalidArgumentError("It must be more than 0.");
  return ms;
}

/** A whole number from `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least)) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`);
    return number;
  };
}

/**
 * The tier, without a default: `serve keys add` has a flag of this name too, and a default of the command above it,
 * which is no limit, would pass for the tier of a new key.
 */
export const tierFlag = (description: string) => choice(description, Object.keys(TIERS) as Tier[]);

/** The flag of the commands that send, and can show what they would. */
export const dryRunFlag = { "--dry-run": "send nothing; print the request as a curl command" } as const;

/** Flags of the commands that make a request. */
export const requestFlags = {
  "--prompt-file <path>": "read the prompt from a file (-: stdin)",
  "--schema <file|-|json>": "a JSON Schema for the result",
  "--structured": "ask for structured output without a schema",
} as const;

/** Flags of the commands that make requests at a provider. */
export const providerFlags = {
  "--model <name>": "at a provider: the model, preset, processor or effort",
  "--set <name=value>": repeatable("at a provider: a field of its own request; may be repeated"),
  "--after <id>": "at a provider: follow up on this request",
} as const;

/** Flags of the commands that count against the hourly limit. */
export const quotaFlags = {
  "--tier <tier>": tierFlag("the tier of the key"),
  "--per-hour <n>": value("creates allowed in an hour, if no tier has that number", wholeNumber(1)),
};

/** The flag of the commands that create one request. */
export const waitForQuotaFlag = {
  "--wait-for-quota": "when the hourly limit is reached, wait instead of exiting with 7",
} as const;

/** Flags of the commands that poll. */
export const paceFlags = {
  "--timeout <duration>": value("stop waiting after this long; 0 for never", duration),
  "--queue-timeout <duration>": value(
    "stop waiting for what is PENDING after this long; 0 for never",
    duration,
  ),
  "--interval <duration>": value("poll at this fixed pace (default: adaptive)", positiveDuration),
  "--patience <duration>": value(
    "give an id up when no poll has succeeded for this long (default: 10m)",
    positiveDuration,
  ),
};

/** Flags of the commands that watch requests, and may end before these do. */
export const watchFlags = {
  ...paceFlags,
  "--stop-on-interrupt": "Ctrl-C stops the research too",
} as const;

/** The flag of the commands that see requests end. */
export const onDoneFlag = {
  "--on-done <command>":
    "run a shell command for each request that ended, with RESEARCH_REQUEST_ID, RESEARCH_STATUS and, where " +
    "the result went to a file, RESEARCH_RESULT_FILE",
} as const;

/** The flag of the commands that wait for long. */
export const notifyFlag = {
  "--notify": "say on the terminal when the wait is over, or ring its bell",
} as const;

/** Flags of the commands that deliver a result. */
export const resultFlags = {
  "-o, --output <path>": "write the result to a file, whole or not at all (-: stdout)",
  "--force": "overwrite an existing file",
  "--strict": "fail (13) if the result does not fit its schema",
  "--raw": "give the result as it came, on a terminal too",
  "--html": "give the result as one HTML page that needs no network",
  "--web": "open the result as a page in a browser",
} as const;

export type RequestOptions = OptionsOf<typeof requestFlags>;
export type ProviderOptions = OptionsOf<typeof providerFlags>;
export type ResultFlags = OptionsOf<typeof resultFlags>;
export type OnDoneOptions = OptionsOf<typeof onDoneFlag>;
export type NotifyOptions = OptionsOf<typeof notifyFlag>;
export type PaceOptions = OptionsOf<typeof paceFlags>;
