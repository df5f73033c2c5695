import { InvalidArgumentError } from "commander";
import { choice, positiveDuration, value, wholeNumber } from "../flags.js";

/** The highest port there is. */
const LAST_PORT = 65_535;

/** A port as commander reads it; 0 lets the system pick one. */
export function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= LAST_PORT)) throw new InvalidArgumentError(`It must be a port from 0 to ${LAST_PORT}.`);
  return value;
}

/** Two prices as commander reads them, as in `0.15/0.6`. */
export function price(text: string): { input: number; output: number } {
  const [, input, output] = /^(\d{1,9}(?:\.\d{1,9})?)\/(\d{1,9}(?:\.\d{1,9})?)$/.exec(text) ?? [];
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("It must be two prices in dollars, as in 0.15/0.6.");
  return { input: Number(input), output: Number(output) };
}

/** A shell command as commander reads it. */
export function shellCommand(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be a command.");
  return text;
}

/** Flags of the commands that may research with a model. */
export const modelFlags = {
  "--model <name>": "have a model search the sources and word the answer; its quotes are checked",
  "--model-url <url>": "its OpenAI-compatible endpoint; the key is RESEARCH_MODEL_API_KEY[_FILE]",
  "--depth <depth>": choice("sets the three limits below (default: standard)", ["quick", "standard", "deep"]),
  "--model-tokens <n>": value(
    "tokens that one research may spend (default by depth: 25000, 120000, 300000)",
    wholeNumber(1),
  ),
  "--model-calls <n>": value(
    "requests that one research may send (default by depth: 8, 25, 60)",
    wholeNumber(1),
  ),
  "--model-time <duration>": value(
    "how long one research may take (default by depth: 5m, 15m, 30m)",
    positiveDuration,
  ),
  "--length <length>": choice("how long the report is (default: normal)", ["short", "normal", "long"]),
  "--model-price <in/out>": value(
    "dollars for a million tokens in and out; shows what a research costs",
    price,
  ),
  "--search <engine>":
    "search the web with searxng=URL, brave, tavily, exa or serper; the key is RESEARCH_SEARCH_API_KEY[_FILE]",
  "--domains <list>": "read pages of these domains only, separated by commas",
  "--not-domains <list>": "read no pages of these domains",
  "--pages <n>": value("pages that one research may fetch (default: 30)", wholeNumber(1)),
} as const;
