import { FAULT_KINDS } from "../../../server/http/faults/fault.js";
import { ROLES } from "../../../server/role.js";
import { define } from "../definition.js";
import {
  choice,
  duration,
  repeatable,
  requestFlags,
  resultFlags,
  tierFlag,
  value,
  watchFlags,
  wholeNumber,
} from "../flags.js";
import { modelFlags, port, shellCommand } from "./flags.js";
import { keys } from "./keys-command.js";

const FAULTS = `
Faults:
  OPERATION is create, status, stop, output or any.
  KIND is an HTTP status (503, 503+retry-after=2) or one of
    ${FAULT_KINDS.join(", ")}.
  HOW is nth=N, first=N or p=PROBABILITY; without it each request is one.
`;
const MODEL_EXAMPLE = "--model llama3.2 --model-url http://127.0.0.1:11434/v1";
const SOURCES = "the folder whose files are searched (default: ., and none with --search)";

export const serve = define({
  name: "serve",
  summary: "run the local service",
  description:
    "Run the research service on this machine: real HTTP, real states, limits and faults on demand.",
  flags: {
    "--host <address>": value("where to listen", String, "127.0.0.1"),
    "--port <n>": value("the port; 0 picks one (default: 8787, with --exec or --role worker 0)", port),
    "--api-key-file <path>":
      "file with the key that clients must send (or RESEARCH_SERVE_API_KEY; default: a fresh one)",
    "--tier <tier>": tierFlag("the hourly limits of the one key (default: enterprise, no limit)"),
    "--data <dir>": "keep everything here, across restarts (default: in memory)",
    "--database <url>":
      "share a PostgreSQL database with other processes (or RESEARCH_SERVE_DATABASE); without a password in it",
    "--role <role>": choice("what this process does at the database (default: all)", ROLES),
    "--lease <duration>": value(
      "how soon others take over the work of a dead process (default: 15s)",
      duration,
    ),
    "--connections <n>": value(
      "how many this process may have to the database (default: 10)",
      wholeNumber(3),
    ),
    "--pending <duration>": value("least time in PENDING", duration, 0),
    "--processing <duration>": value("least time in PROCESSING", duration, 0),
    "--keep <duration>": value("delete conversations that ended longer ago (default: keep all)", duration),
    "--drain <duration>": value(
      "how long requests are still taken after SIGTERM (default: 5s with --database, else 0)",
      duration,
    ),
    "--workers <n>": value("how many are PROCESSING at once (default: one for each core)", wholeNumber(1)),
    "--researcher <command>": value(
      "a program that does the research: JSON on stdin, the result on stdout",
      shellCommand,
    ),
    "--upstream <profile>":
      "have that profile's service or provider do the research, each question sent once",
    "--upstream-at-once <n>": value("requests that may be under way there (default: 1000)", wholeNumber(1)),
    "--sources <dir>": SOURCES,
    ...modelFlags,
    "--allow-host <name>": repeatable("a name to answer to beside the loopback ones; repeatable"),
    "--fault <operation:kind[:how]>": repeatable("answer with a fault, to test a client; repeatable"),
    "--seed <n>": value("makes the faults with a probability the same each time", wholeNumber(0)),
    "--log <format>": choice("a line for each request on stderr (default: text on a terminal)", [
      "text",
      "json",
      "off",
    ]),
    "--ui": "a page to look at: prints a link that opens it in one browser, once",
    "--metrics-open": "GET /metrics without a token (else with RESEARCH_SERVE_METRICS_TOKEN)",
    "--exec <command>": value("run COMMAND against the service, then exit with its code", shellCommand),
  },
  notes: FAULTS,
  output: "the base URL once it is ready; --json: {base_url, pid, api_key}; with --exec nothing",
  exits: {
    0: "stopped by SIGINT or SIGTERM",
    2: "bad input",
    12: "the port, folder or database cannot be used",
  },
  examples: [
    "research serve --sources docs",
    "research serve --tier free --fault status:503:first=2",
    "research serve --database postgresql://research@db/research --role worker",
    `research serve --sources docs ${MODEL_EXAMPLE}`,
    "research serve --exec 'research run \"How do tides form?\"'",
  ],
  run: async () => (await import("./run.js")).serve,
  commands: [keys],
});

export const tryOut = define({
  name: "try",
  summary: "answer a question from the files of a folder: no account, no key",
  description: "Start the local service for this one command and run a question against it. Nothing stays.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "--sources <dir>": SOURCES,
    ...modelFlags,
    ...watchFlags,
    ...resultFlags,
    ...requestFlags,
  },
  output: "a report with quotes, each with file:line; --json: the output's data on one line",
  exits: {
    0: "done, also if nothing was found",
    2: "bad input",
    3: "FAILED: the schema cannot be filled from the files",
    12: "not written",
  },
  examples: [
    'research try "What happens when the hourly limit is exceeded?"',
    `research try --sources docs ${MODEL_EXAMPLE} "Who may stop a request?"`,
  ],
  run: async () => (await import("./try.js")).tryOut,
});
