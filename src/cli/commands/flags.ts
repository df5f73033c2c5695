import { InvalidArgumentError } from "commander";
import { TIERS, type Tier } from "../../ground/protocol/limits.js";
import { parseDuration } from "../../ground/text/duration.js";
import type { OptionsOf, Value } from "./definition.js";

type WithDefault<T> = Value<T> & { before: T };

/** A flag whose value `parse` reads; with `before` its value if it is not given. */
export function value<T>(description: string, parse: (text: string) => T): Value<T>;
export function value<T>(description: string, parse: (text: string) => T, before: T): WithDefault<T>;
export function value<T>(description: string, parse: (text: string) => T, before?: T): Value<T> {
  return { description, parse, ...(before !== undefined && { before }) };
}

/** A flag that takes one of some words. */
export function choice<const T extends string>(description: string, choices: readonly T[]): Value<T> {
  return { description, choices };
}

/** A flag that may be given more than once. */
export function repeatable(description: string): WithDefault<string[]> {
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
 * which means no limit, would pass for the tier of a new key.
 */
export const tierFlag = (description: string) => choice(description, Object.keys(TIERS) as Tier[]);

/** Flags that several commands take, in groups. */
export const flags = {
  /** The flag of the commands that send, and can show what they would. */
  dryRun: { "--dry-run": "send nothing; print the request as a curl command" },
  /** Flags of the commands that make a request. */
  request: {
    "--prompt-file <path>": "read the prompt from a file (-: stdin)",
    "--schema <file|-|json>": "a JSON Schema for the result",
    "--structured": "ask for structured output without a schema",
  },
  /** Flags of the commands that make requests at a provider. */
  provider: {
    "--model <name>": repeatable(
      "at a provider: the model, preset, processor, effort or agent; with several accounts PROFILE=NAME, repeatable",
    ),
    "--set <name=value>": repeatable("at a provider: a field of its own request; may be repeated"),
    "--after <id>": "at a provider: follow up on this request",
  },
  /** The flag of the commands whose create may go to another account. */
  or: {
    "--or <profile>": repeatable(
      "go on to this profile where the account before it provably has nothing: key, money, limit, no connection; may be repeated",
    ),
  },
  /** Flags of the commands that may be repeated and pay once. */
  once: {
    "--once": "use the same request of the last 24 hours if there is one, instead of making another",
    "--within <duration>": value("with --once: how old that request may be (default: 24h)", positiveDuration),
  },
  /** The flag of the commands that create, for a limit of one's own in 24 hours. */
  perDay: {
    "--per-day <n>": value("creates allowed in 24 hours with this key, unknown ones counted", wholeNumber(1)),
  },
  /** Flags of the commands that ask a provider a question anew. */
  domains: {
    "--domains <list>": "at a provider: search these domains only, separated by commas",
    "--not-domains <list>": "at a provider: search none of these domains",
  },
  /** Flags of the commands that count against the hourly limit. */
  quota: {
    "--tier <tier>": tierFlag("the tier of the key"),
    "--per-hour <n>": value("creates allowed in an hour, if no tier has that number", wholeNumber(1)),
  },
  /** The flag of the commands that create one request. */
  waitForQuota: {
    "--wait-for-quota": "when the hourly limit is reached, wait instead of exiting with 7",
  },
  /** Flags of the commands that poll. */
  pace: {
    "--timeout <duration>": value("stop waiting after this long; 0 for never", duration),
    "--interval <duration>": value("poll at this fixed pace (default: adaptive)", positiveDuration),
    "--patience <duration>": value(
      "give an id up when no poll has succeeded for this long (default: 10m)",
      positiveDuration,
    ),
  },
  /** The flag of the commands that see requests end. */
  onDone: {
    "--on-done <command>":
      "run a shell command for each request that ended, with RESEARCH_REQUEST_ID, RESEARCH_STATUS and, where " +
      "the result went to a file, RESEARCH_RESULT_FILE",
  },
  /** The flag of the commands that wait for long. */
  notify: {
    "--notify": "say on the terminal when the wait is over, or ring its bell",
  },
  /** The flag of the commands that can check the results that they write. */
  check: {
    "--check": "then read the pages that the result cites, and end with 14 if one does not say what is said",
  },
  /** Flags of the commands that deliver a result. */
  result: {
    "-o, --output <path>": "write the result to a file, whole or not at all (-: stdout)",
    "--force": "overwrite an existing file",
    "--strict": "fail (13) if the result does not fit its schema",
    "--raw": "give the result as it came, on a terminal too",
    "--html": "give the result as one HTML page that needs no network",
    "--web": "open the result as a page in a browser",
  },
} as const;

type Groups = typeof flags;
/** All of a union at once. */
type Joined<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** What a command is given of these groups of flags. */
export type Given<Name extends keyof Groups> = Joined<{ [Each in Name]: OptionsOf<Groups[Each]> }[Name]>;
