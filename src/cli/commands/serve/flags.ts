import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../../core/text/duration.js";
import type { Rate } from "../../../server/keys/key-store.js";
import { ROLES } from "../../../server/role.js";
import type { OptionsOf } from "../definition.js";
import {
  createWholeNumberParser,
  defineChoice,
  defineRepeatable,
  defineTierFlag,
  defineValue,
  parseDurationFlag,
  parsePositiveDuration,
} from "../flag-values.js";
import { flags } from "../flags.js";

const LAST_PORT = 65_535;
const LONGEST_MS = 3_650 * 86_400_000;

/** A port as commander reads it; 0 lets the system pick one. */
function parsePort(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= LAST_PORT)) throw new InvalidArgumentError(`It must be a port from 0 to ${LAST_PORT}.`);
  return value;
}

function parseShellCommand(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be a command.");
  return text;
}

/** What is searched and quoted, by the service and by `try`. */
const sourceFlags = {
  "--sources <dir>": "the folder whose files are searched (default: ., and none with --search)",
  "--search <engine>":
    "search the web with searxng=URL, brave, tavily, exa or serper; the key is RESEARCH_SEARCH_API_KEY[_FILE]",
  "--domains <list>": "read pages of these domains only, separated by commas",
  "--not-domains <list>": "read no pages of these domains",
  "--pages <n>": defineValue("pages that one research may fetch (default: 30)", createWholeNumberParser(1)),
  "--answers <file|sample>":
    "answer from FILE, a JSON array of {prompt, output | fail, after}, or with a sample: to test a pipeline",
} as const;

/** The model that words the answer, and its limits. */
const modelFlags = {
  "--model <name>": "have a model search the sources and word the answer; its quotes are checked",
  ...flags.modelLimits,
  "--length <length>": defineChoice("how long the report is (default: normal)", ["short", "normal", "long"]),
} as const;

export const serveFlags = {
  "Service:": {
    "--host <address>": defineValue("where to listen", String, "127.0.0.1"),
    "--port <n>": defineValue(
      "the port; 0 picks one (default: 8787, with --exec or --role worker 0)",
      parsePort,
    ),
    "--allow-host <name>": defineRepeatable("a name to answer to beside the loopback ones; repeatable"),
    "--api-key-file <path>":
      "file with the key that clients must send (or RESEARCH_SERVE_API_KEY; default: a fresh one)",
    "--tier <tier>": defineTierFlag("the hourly limits of the one key (default: enterprise, no limit)"),
    "--log <format>": defineChoice("a line for each request on stderr (default: text on a terminal)", [
      "text",
      "json",
      "off",
    ]),
    "--ui": "a page to look at: prints a link that opens it in one browser, once",
    "--drain <duration>": defineValue(
      "how long requests are still taken after SIGTERM (default: 5s with --database, else 0)",
      parseDurationFlag,
    ),
    "--exec <command>": defineValue(
      "run COMMAND against the service, then exit with its code",
      parseShellCommand,
    ),
  },
  "Store:": {
    "--data <dir>": "keep everything here, across restarts (default: in memory)",
    "--keep <duration>": defineValue(
      "delete conversations that ended longer ago (default: keep all)",
      parseDurationFlag,
    ),
    "--database <url>":
      "share a PostgreSQL database with other processes (or RESEARCH_SERVE_DATABASE); without a password in it",
    "--role <role>": defineChoice("what this process does at the database (default: all)", ROLES),
    "--lease <duration>": defineValue(
      "how soon others take over the work of a dead process (default: 15s)",
      parseDurationFlag,
    ),
    "--connections <n>": defineValue(
      "how many this process may have to the database (default: 10)",
      createWholeNumberParser(4),
    ),
  },
  "Research:": {
    "--workers <n>": defineValue(
      "how many are PROCESSING at once (default: one for each core)",
      createWholeNumberParser(1),
    ),
    "--researcher <command>": defineValue(
      "a program that does the research: JSON on stdin, the result on stdout",
      parseShellCommand,
    ),
    "--upstream <profile>":
      "have that profile's service or provider do the research, each question sent once",
    "--upstream-at-once <n>": defineValue(
      "requests that may be under way there (default: 1000)",
      createWholeNumberParser(1),
    ),
  },
  "Sources:": sourceFlags,
  "Model:": modelFlags,
  "Tests:": {
    "--pending <duration>": defineValue("least time in PENDING", parseDurationFlag, 0),
    "--processing <duration>": defineValue("least time in PROCESSING", parseDurationFlag, 0),
    "--fault <operation:kind[:how]>": defineRepeatable("answer with a fault, to test a client; repeatable"),
    "--seed <n>": defineValue(
      "makes the faults with a probability the same each time",
      createWholeNumberParser(0),
    ),
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

/** A budget as commander reads it, as in `200/30d`, or `none`. */
function parseRate(text: string): Rate {
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
  const read = parseRate(text);
  if (read !== NONE && !Number.isInteger(read.most))
    throw new InvalidArgumentError("It must be a whole number and a time, as in 200/30d, or none.");
  return read;
}

function parseAtOnce(text: string): number {
  return text === "none" ? NONE.most : createWholeNumberParser(1)(text);
}

const budgetFlags = {
  "--budget <n/duration>": defineValue(
    "creates in a time that rolls, as in 200/30d (default: none)",
    parseWholeRate,
  ),
  "--at-once <n>": defineValue(
    "conversations that run at a time; the others wait (default: none)",
    parseAtOnce,
  ),
  "--dollars <n/duration>": defineValue(
    "dollars in a time that rolls, as in 50/30d (default: none)",
    parseRate,
  ),
} as const;

export const setFlags = { ...storeFlags, ...budgetFlags } as const;

export const spentFlags = {
  ...storeFlags,
  "--since <duration>": defineValue("only what ended in this time (default: all)", parsePositiveDuration),
  "--by <what>": defineChoice("one line for each of these (default: key)", ["key", "day", "model"]),
} as const;

export const keyFlags = {
  ...storeFlags,
  ...budgetFlags,
  "--tier <tier>": defineTierFlag("the hourly limits (default: free)"),
  "--creates-per-hour <n>": defineValue(
    "for enterprise, which has no limits of its own",
    createWholeNumberParser(0),
  ),
  "--stops-per-hour <n>": defineValue("likewise", createWholeNumberParser(0)),
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
