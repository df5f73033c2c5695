import { InvalidArgumentError } from "commander";
import { positiveDuration, value, wholeNumber } from "../flags.js";

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

/** Flags of the commands that may research with a model. */
export const modelFlags = {
  "--model <name>": "have a model search the sources and word the answer; its quotes are checked",
  "--model-url <url>": "its OpenAI-compatible endpoint; the key is RESEARCH_MODEL_API_KEY[_FILE]",
  "--model-tokens <n>": value("tokens that one research may spend (default: 300000)", wholeNumber(1)),
  "--model-calls <n>": value("requests that one research may send (default: 24)", wholeNumber(1)),
  "--model-time <duration>": value("how long one research may take (default: 15m)", positiveDuration),
  "--search <engine>":
    "search the web with searxng=URL, brave, tavily, exa or serper; the key is RESEARCH_SEARCH_API_KEY[_FILE]",
  "--domains <list>": "read pages of these domains only, separated by commas",
  "--not-domains <list>": "read no pages of these domains",
  "--pages <n>": value("pages that one research may fetch (default: 30)", wholeNumber(1)),
} as const;
