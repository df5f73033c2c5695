import type { IntersectionOf, OptionsOf } from "./define-command.js";
import {
  createWholeNumberParser,
  defineChoice,
  defineRepeatable,
  defineTierFlag,
  defineValue,
  parseDurationFlag,
  parsePositiveDuration,
  parsePrices,
} from "./flag-values.js";

/** Flags that several commands have, in groups by what the commands do. */
export const flags = {
  dryRun: { "--dry-run": "send nothing; print the request as a curl command" },
  request: {
    "--prompt-file <path>": "read the prompt from a file; - reads stdin",
    "--schema <file|-|json>": "a JSON Schema for the result",
    "--structured": "ask for structured output without a schema",
  },
  context: {
    "--context <file>": defineRepeatable(
      "put the text of this file before the question (text, Markdown, HTML, docx or PDF; - reads stdin); the text is sent to the provider with the question; may be repeated",
    ),
  },
  provider: {
    "--model <name>": defineRepeatable(
      "at a provider: the model, preset, processor, effort or agent; for several accounts, pass --model PROFILE=NAME once for each",
    ),
    "--set <name=value>": defineRepeatable(
      "at a provider: set a field of the request that is sent to it; may be repeated",
    ),
    "--after <id>": "at a provider: follow up on this request",
    "--window <duration>":
      "at openai: pay a lower price, and accept that the result may take this long (2h, 8h)",
  },
  or: {
    "--or <profile>": defineRepeatable(
      "use this profile if the previous account has no key or no money, has reached a limit, or cannot be reached; may be repeated",
    ),
  },
  once: {
    "--once": "if an identical request was created in the last 24 hours, use it instead of creating another",
    "--within <duration>": defineValue(
      "with --once: how old the identical request may be (default: 24h)",
      parsePositiveDuration,
    ),
  },
  perDay: {
    "--per-day <n>": defineValue(
      "the key may create at most this many requests in 24 hours; requests with an unknown outcome count",
      createWholeNumberParser(1),
    ),
  },
  domains: {
    "--domains <list>": "at a provider: search only these domains, separated by commas",
    "--not-domains <list>": "at a provider: exclude these domains from the search",
  },
  quota: {
    "--tier <tier>": defineTierFlag("the tier of the key"),
    "--per-hour <n>": defineValue(
      "the hourly limit of the key, if it differs from that of its tier",
      createWholeNumberParser(1),
    ),
  },
  waitForQuota: {
    "--wait-for-quota": "wait if the hourly limit is reached, instead of exiting with 7",
  },
  pace: {
    "--timeout <duration>": defineValue(
      "stop waiting after this time (default: 0, which means never)",
      parseDurationFlag,
    ),
    "--interval <duration>": defineValue(
      "wait this long between two polls (default: grows with the age of the request)",
      parsePositiveDuration,
    ),
    "--patience <duration>": defineValue(
      "give up an id if no poll has succeeded for this long (default: 10m)",
      parsePositiveDuration,
    ),
  },
  notify: {
    "--notify": "ring the terminal bell when the wait is over",
  },
  check: {
    "--check":
      "check the result against the pages that it cites; exit with 14 if a page does not say what the result says",
  },
  modelLimits: {
    "--model-url <url>":
      "the model's OpenAI-compatible endpoint; its key comes from RESEARCH_MODEL_API_KEY or RESEARCH_MODEL_API_KEY_FILE",
    "--depth <depth>": defineChoice("set the limits of the next three options (default: standard)", [
      "quick",
      "standard",
      "deep",
    ]),
    "--model-tokens <n>": defineValue(
      "how many tokens each question or check may use (default by depth: 25000, 120000, 300000)",
      createWholeNumberParser(1),
    ),
    "--model-calls <n>": defineValue(
      "how many requests to the model each question or check may send (default by depth: 8, 25, 60)",
      createWholeNumberParser(1),
    ),
    "--model-time <duration>": defineValue(
      "how long each question or check may take (default by depth: 5m, 15m, 30m)",
      parsePositiveDuration,
    ),
    "--model-price <in/out>": defineValue(
      "the price in dollars of a million input and a million output tokens, as in 0.25/2; the cost is then shown",
      parsePrices,
    ),
  },
  partial: { "--partial": "if a result was cut short, print the part that exists and exit with 0" },
  result: {
    "-o, --output <path>": "write the result to a file, completely or not at all; - is stdout",
    "--force": "overwrite an existing file",
    "--strict": "exit with 13 if the result does not fit its schema",
    "--raw": "print the result unchanged, even on a terminal",
    "--html": "print the result as one HTML page that needs no network",
    "--web": "open the result as a page in a browser",
  },
} as const;

type Groups = typeof flags;
/** The options that a command gets from the groups with these names. */
export type Given<Name extends keyof Groups> = IntersectionOf<
  { [Each in Name]: OptionsOf<Groups[Each]> }[Name]
>;
