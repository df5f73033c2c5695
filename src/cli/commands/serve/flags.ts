import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../../core/text/time-format.js";
import type { Rate } from "../../../server/keys/key-store.js";
import { ROLES } from "../../../server/process-role.js";
import type { OptionsOf } from "../define-command.js";
import {
  createWholeNumberParser,
  defineChoice,
  defineRepeatable,
  defineTierFlag,
  defineValue,
  parseDurationFlag,
  parsePositiveDuration,
} from "../flag-values.js";
import { flags } from "../shared-flags.js";

const LAST_PORT = 65_535;
const LONGEST_MS = 3_650 * 86_400_000;

/** Parses a port; 0 lets the system choose one. */
function parsePort(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= LAST_PORT)) throw new InvalidArgumentError(`It must be a port from 0 to ${LAST_PORT}.`);
  return value;
}

function parseShellCommand(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be a command.");
  return text;
}

/** The flags for the sources that the service and `try` search and quote. */
const sourceFlags = {
  "--sources <dir>": "the folder to search (default: ., or none with --search)",
  "--search <engine>":
    "search the web with searxng=URL, brave, tavily, exa or serper; its key comes from RESEARCH_SEARCH_API_KEY or RESEARCH_SEARCH_API_KEY_FILE",
  "--domains <list>": "read only pages of these domains, separated by commas",
  "--not-domains <list>": "read no pages of these domains",
  "--pages <n>": defineValue(
    "fetch at most this many pages for one question (default: 30)",
    createWholeNumberParser(1),
  ),
  "--answers <file|sample>":
    "to test a pipeline: take the answers from FILE, a JSON array of {prompt, output | fail, after}; `sample` answers every question with a sample",
} as const;

/** The flags for the model that writes the answer, and its limits. */
const modelFlags = {
  "--model <name>": "let a model search the sources and write the answer; its quotes are checked",
  ...flags.modelLimits,
  "--length <length>": defineChoice("how long the report is (default: normal)", ["short", "normal", "long"]),
} as const;

export const serveFlags = {
  "Service:": {
    "--host <address>": defineValue("the address to listen on", String, "127.0.0.1"),
    "--port <n>": defineValue(
      "the port to listen on; 0 picks a free one (default: 8787; 0 with --exec or --role worker)",
      parsePort,
    ),
    "--allow-host <name>": defineRepeatable(
      "accept requests for this host name, besides loopback names; may be repeated",
    ),
    "--api-key-file <path>":
      "a file with the key that clients must send (or RESEARCH_SERVE_API_KEY; default: a new key)",
    "--tier <tier>": defineTierFlag("the hourly limits of the service's key (default: enterprise, no limit)"),
    "--log <format>": defineChoice("log each request on stderr (default: text on a terminal)", [
      "text",
      "json",
      "off",
    ]),
    "--ui": "serve a web page that shows the conversations; prints a link that works once",
    "--drain <duration>": defineValue(
      "accept requests for this long after SIGTERM (default: 5s with --database, otherwise 0)",
      parseDurationFlag,
    ),
    "--exec <command>": defineValue(
      "run COMMAND against the service, then exit with its code",
      parseShellCommand,
    ),
  },
  "Store:": {
    "--data <dir>": "store everything in this folder, across restarts (default: in memory)",
    "--keep <duration>": defineValue(
      "delete conversations that ended longer ago than this (default: keep all)",
      parseDurationFlag,
    ),
    "--database <url>":
      "share a PostgreSQL database with other processes (or RESEARCH_SERVE_DATABASE); the URL must not contain a password",
    "--role <role>": defineChoice("with --database: the work of this process (default: all)", ROLES),
    "--lease <duration>": defineValue(
      "how soon other processes take over the work of a process that died (default: 15s)",
      parseDurationFlag,
    ),
    "--connections <n>": defineValue(
      "how many database connections this process may open (default: 10)",
      createWholeNumberParser(4),
    ),
  },
  "Research:": {
    "--workers <n>": defineValue(
      "how many conversations may be PROCESSING at once (default: one for each core)",
      createWholeNumberParser(1),
    ),
    "--researcher <command>": defineValue(
      "a program that does the research: JSON on stdin, the result on stdout",
      parseShellCommand,
    ),
    "--upstream <profile>":
      "let this profile's service or provider do the research; each question is sent once",
    "--upstream-at-once <n>": defineValue(
      "how many requests may run at the upstream service at once (default: 1000)",
      createWholeNumberParser(1),
    ),
  },
  "Sources:": sourceFlags,
  "Model:": modelFlags,
  "Tests:": {
    "--pending <duration>": defineValue("minimum time in PENDING", parseDurationFlag, 0),
    "--processing <duration>": defineValue("minimum time in PROCESSING", parseDurationFlag, 0),
  },
} as const;

export const tryFlags = {
  "Sources:": sourceFlags,
  "Model:": modelFlags,
  "Question:": flags.request,
  "Waiting:": flags.pace,
  "Result:": flags.result,
} as const;

export const storeFlags = {
  "--data <dir>": "the data folder of the service",
  "--database <url>": "the database of the service (or RESEARCH_SERVE_DATABASE)",
} as const;

const NONE = { most: Number.POSITIVE_INFINITY, ms: 0 };

/** Parses a budget such as `200/30d`, or `none`. */
function parseBudgetRate(text: string): Rate {
  if (text === "none") return NONE;
  const [, number = "", time = ""] = /^(\d{1,9}(?:\.\d{1,9})?)\/(.+)$/.exec(text) ?? [];
  const ms = parseDuration(time) ?? 0;
  if (!(Number(number) > 0 && ms > 0 && ms <= LONGEST_MS))
    throw new InvalidArgumentError(
      "It must be a number and a time of at most 3650d, as in 200/30d, or none.",
    );
  return { most: Number(number), ms };
}

function parseWholeRate(text: string): Rate {
  const read = parseBudgetRate(text);
  if (read !== NONE && !Number.isInteger(read.most))
    throw new InvalidArgumentError("It must be a whole number and a time, as in 200/30d, or none.");
  return read;
}

function parseAtOnce(text: string): number {
  return text === "none" ? NONE.most : createWholeNumberParser(1)(text);
}

const budgetFlags = {
  "--budget <n/duration>": defineValue(
    "how many conversations the key may create in a rolling period, as in 200/30d (default: no limit)",
    parseWholeRate,
  ),
  "--at-once <n>": defineValue(
    "how many conversations of the key run at once; the others wait (default: no limit)",
    parseAtOnce,
  ),
  "--dollars <n/duration>": defineValue(
    "how many dollars the key may spend in a rolling period, as in 50/30d (default: no limit)",
    parseBudgetRate,
  ),
} as const;

export const setFlags = { ...storeFlags, ...budgetFlags } as const;

export const spentFlags = {
  ...storeFlags,
  "--since <duration>": defineValue(
    "only conversations that ended within this time (default: all)",
    parsePositiveDuration,
  ),
  "--by <what>": defineChoice("print one line for each key, day or model (default: key)", [
    "key",
    "day",
    "model",
  ]),
} as const;

export const keyFlags = {
  ...storeFlags,
  ...budgetFlags,
  "--tier <tier>": defineTierFlag("the hourly limits (default: free)"),
  "--creates-per-hour <n>": defineValue(
    "the hourly limit of create requests, for the tier enterprise",
    createWholeNumberParser(0),
  ),
  "--stops-per-hour <n>": defineValue(
    "the hourly limit of stop requests, for the tier enterprise",
    createWholeNumberParser(0),
  ),
  "--expires <duration>": defineValue(
    "how long the key is valid (default: until it is revoked)",
    parsePositiveDuration,
  ),
} as const;

export type ServeOptions = OptionsOf<typeof serveFlags>;
export type TryOptions = OptionsOf<typeof tryFlags>;
export type KeyOptions = OptionsOf<typeof keyFlags>;
export type SetOptions = OptionsOf<typeof setFlags>;
export type SpentOptions = OptionsOf<typeof spentFlags>;
