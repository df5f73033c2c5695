import { type Command, InvalidArgumentError, Option } from "commander";
import { TIERS } from "../../../protocol/limits.js";
import { positiveDuration, wholeNumber } from "../flags.js";

/** The highest port there is. */
const LAST_PORT = 65_535;

/** A port as commander reads it; 0 lets the system pick one. */
export function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= LAST_PORT)) throw new InvalidArgumentError(`It must be a port from 0 to ${LAST_PORT}.`);
  return value;
}

/** A shell command as commander reads it. */
export function shellCommand(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be a command.");
  return text;
}

/**
 * The tier, without a default: `serve keys add` has a flag of this name too, and a default of the command above it,
 * which is no limit, would pass for the tier of a new key.
 */
export function tierFlag(description: string): Option {
  return new Option("--tier <tier>", description).choices(Object.keys(TIERS));
}

/** Flags of the commands that may research with a model. */
export function modelFlags<C extends Command>(command: C): C {
  return command
    .option("--model <name>", "have a model search the sources and word the answer; its quotes are checked")
    .option("--model-url <url>", "its OpenAI-compatible endpoint; the key is RESEARCH_MODEL_API_KEY[_FILE]")
    .option("--model-tokens <n>", "tokens that one research may spend (default: 300000)", wholeNumber(1))
    .option("--model-calls <n>", "requests that one research may send (default: 24)", wholeNumber(1))
    .option("--model-time <duration>", "how long one research may take (default: 15m)", positiveDuration)
    .option(
      "--search <engine>",
      "search the web with searxng=URL, brave, tavily, exa or serper; the key is RESEARCH_SEARCH_API_KEY[_FILE]",
    )
    .option("--domains <list>", "read pages of these domains only, separated by commas")
    .option("--not-domains <list>", "read no pages of these domains")
    .option("--pages <n>", "pages that one research may fetch (default: 30)", wholeNumber(1));
}
