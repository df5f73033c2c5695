import type { Joined, OptionsOf } from "./definition.js";
import {
  createWholeNumberParser,
  defineChoice,
  defineRepeatable,
  defineTierFlag,
  defineValue,
  parseDurationFlag,
  parsePositiveDuration,
  price,
} from "./flag-values.js";

/** Flags that several commands take, each group by what its commands do. */
export const flags = {
  dryRun: { "--dry-run": "send nothing; print the request as a curl command" },
  request: {
    "--prompt-file <path>": "read the prompt from a file (-: stdin)",
    "--schema <file|-|json>": "a JSON Schema for the result",
    "--structured": "ask for structured output without a schema",
  },
  context: {
    "--context <file>": defineRepeatable(
      "put a file's text (also HTML, docx, PDF; -: stdin) before the question: the provider gets it, too; may be repeated",
    ),
  },
  provider: {
    "--model <name>": defineRepeatable(
      "at a provider: the model, preset, processor, effort or agent; with several accounts PROFILE=NAME, repeatable",
    ),
    "--set <name=value>": defineRepeatable("at a provider: a field of its own request; may be repeated"),
    "--after <id>": "at a provider: follow up on this request",
    "--window <duration>": "at openai: take a result within this time (2h, 8h) for a lower price",
  },
  or: {
    "--or <profile>": defineRepeatable(
      "go on to this profile where the account before it provably has nothing: key, money, limit, no connection; may be repeated",
    ),
  },
  once: {
    "--once": "use the same request of the last 24 hours if there is one, instead of making another",
    "--within <duration>": defineValue(
      "with --once: how old that request may be (default: 24h)",
      parsePositiveDuration,
    ),
  },
  perDay: {
    "--per-day <n>": defineValue(
      "creates allowed in 24 hours with this key, unknown ones counted",
      createWholeNumberParser(1),
    ),
  },
  domains: {
    "--domains <list>": "at a provider: search these domains only, separated by commas",
    "--not-domains <list>": "at a provider: search none of these domains",
  },
  quota: {
    "--tier <tier>": defineTierFlag("the tier of the key"),
    "--per-hour <n>": defineValue(
      "creates allowed in an hour, if no tier has that number",
      createWholeNumberParser(1),
    ),
  },
  waitForQuota: {
    "--wait-for-quota": "when the hourly limit is reached, wait instead of exiting with 7",
  },
  pace: {
    "--timeout <duration>": defineValue("stop waiting after this long; 0 for never", parseDurationFlag),
    "--interval <duration>": defineValue(
      "poll at this fixed pace (default: adaptive)",
      parsePositiveDuration,
    ),
    "--patience <duration>": defineValue(
      "give an id up when no poll has succeeded for this long (default: 10m)",
      parsePositiveDuration,
    ),
  },
  onDone: {
    "--on-done <command>":
      "run a shell command for each request that ended, with RESEARCH_REQUEST_ID, RESEARCH_STATUS and, where " +
      "the result went to a file, RESEARCH_RESULT_FILE",
  },
  notify: {
    "--notify": "ring the bell of the terminal when the wait is over",
  },
  check: {
    "--check": "then read the pages that the result cites, and end with 14 if one does not say what is said",
  },
  modelLimits: {
    "--model-url <url>": "its OpenAI-compatible endpoint; the key is RESEARCH_MODEL_API_KEY[_FILE]",
    "--depth <depth>": defineChoice("sets the three limits below (default: standard)", [
      "quick",
      "standard",
      "deep",
    ]),
    "--model-tokens <n>": defineValue(
      "tokens that one research or check may spend (default by depth: 25000, 120000, 300000)",
      createWholeNumberParser(1),
    ),
    "--model-calls <n>": defineValue(
      "requests that one research or check may send (default by depth: 8, 25, 60)",
      createWholeNumberParser(1),
    ),
    "--model-time <duration>": defineValue(
      "how long one research or check may take (default by depth: 5m, 15m, 30m)",
      parsePositiveDuration,
    ),
    "--model-price <in/out>": defineValue(
      "dollars for a million tokens in and out; shows what it costs",
      price,
    ),
  },
  partial: { "--partial": "print what there is of a result that was cut short" },
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
/** What a command is given of these groups of flags. */
export type Given<Name extends keyof Groups> = Joined<{ [Each in Name]: OptionsOf<Groups[Each]> }[Name]>;
