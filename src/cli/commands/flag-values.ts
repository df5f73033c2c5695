import { InvalidArgumentError } from "commander";
import { TIERS, type Tier } from "../../core/protocol/rate-limits.js";
import { parseDuration } from "../../core/text/time-format.js";
import type { FlagValue } from "./define-command.js";

type WithDefault<T> = FlagValue<T> & { before: T };

/** Defines a flag with a value that `parse` reads. `before`: the value if the flag is not given. */
export function defineValue<T>(description: string, parse: (text: string) => T): FlagValue<T>;
export function defineValue<T>(description: string, parse: (text: string) => T, before: T): WithDefault<T>;
export function defineValue<T>(description: string, parse: (text: string) => T, before?: T): FlagValue<T> {
  return { description, parse, ...(before !== undefined && { before }) };
}

export function defineChoice<const T extends string>(
  description: string,
  choices: readonly T[],
): FlagValue<T> {
  return { description, choices };
}

export function defineRepeatable(description: string): WithDefault<string[]> {
  return { description, parse: (text, before) => [...before, text], before: [] };
}

export function parseDurationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError("Invalid duration: use 500ms, 30s, 10m, 2h, 3d or a number of seconds.");
  return ms;
}

export function parsePositiveDuration(text: string): number {
  const ms = parseDurationFlag(text);
  if (ms <= 0) throw new InvalidArgumentError("It must be more than 0.");
  return ms;
}

export function createWholeNumberParser(least: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least)) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`);
    return number;
  };
}

/** Defines `--tier` without a default. With one, `serve keys add`, which has the same flag, would take the default of `serve`. */
export const defineTierFlag = (description: string) =>
  defineChoice(description, Object.keys(TIERS) as Tier[]);

/** Parses two prices, such as `0.15/0.6`. */
export function parsePrices(text: string): { input: number; output: number } {
  const [, input, output] = /^(\d{1,9}(?:\.\d{1,9})?)\/(\d{1,9}(?:\.\d{1,9})?)$/.exec(text) ?? [];
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("It must be two prices in dollars, as in 0.15/0.6.");
  return { input: Number(input), output: Number(output) };
}
