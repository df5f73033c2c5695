import { Option } from "commander";
import { FAULT_KINDS } from "../../../server/http/faults/fault.js";
import { ROLES } from "../../../server/role.js";
import type { Define } from "../definition.js";
import { duration, requestFlags, resultFlags, watchFlags, wholeNumber } from "../flags.js";
import { modelFlags, port, shellCommand, tierFlag } from "./flags.js";
import { defineKeys } from "./keys-command.js";

const FAULTS = `
Faults:
  OPERATION is create, status, stop, output or any.
  KIND is an HTTP status (503, 503+retry-after=2) or one of
    ${FAULT_KINDS.join(", ")}.
  HOW is nth=N, first=N or p=PROBABILITY; without it each request is one.
`;
const MODEL_EXAMPLE = "--model llama3.2 --model-url http://127.0.0.1:11434/v1";
const SOURCES = "the folder whose files are searched (default: ., and none with --search)";

export const serve: Define = (program, perform) => {
  const command = program
    .command("serve")
    .summary("run the local service")
    .description(
      "Run the research service on this machine: real HTTP, real states, limits and faults on demand.",
    )
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <n>", "the port; 0 picks one (default: 8787, with --exec or --role worker 0)", port)
    .option(
      "--api-key-file <path>",
      "file with the key that clients must send (or RESEARCH_SERVE_API_KEY; default: a fresh one)",
    )
    .addOption(tierFlag("the hourly limits of the one key (default: enterprise, no limit)"))
    .option("--data <dir>", "keep everything here, across restarts (default: in memory)")
    .option(
      "--database <url>",
      "share a PostgreSQL database with other processes (or RESEARCH_SERVE_DATABASE); without a password in it",
    )
    .addOption(
      new Option("--role <role>", "what this process does at the database (default: all)").choices(ROLES),
    )
    .option(
      "--lease <duration>",
      "how soon others take over the work of a dead process (default: 15s)",
      duration,
    )
    .option(
      "--connections <n>",
      "how many this process may have to the database (default: 10)",
      wholeNumber(3),
    )
    .option("--pending <duration>", "least time in PENDING", duration, 0)
    .option("--processing <duration>", "least time in PROCESSING", duration, 0)
    .option("--keep <duration>", "delete conversations that ended longer ago (default: keep all)", duration)
    .option(
      "--drain <duration>",
      "how long requests are still taken after SIGTERM (default: 5s with --database, else 0)",
      duration,
    )
    .option("--workers <n>", "how many are PROCESSING at once (default: one for each core)", wholeNumber(1))
    .addOption(
      new Option(
        "--researcher <command>",
        "a program that does the research: JSON on stdin, the result on stdout",
      ).argParser(shellCommand),
    )
    .option("--sources <dir>", SOURCES);
  modelFlags(command)
    .option("--allow-host <name>", "a name to answer to beside the loopback ones; repeatable", collect, [])
    .option(
      "--fault <operation:kind[:how]>",
      "answer with a fault, to test a client; repeatable",
      collect,
      [],
    )
    .option("--seed <n>", "makes the faults with a probability the same each time", wholeNumber(0))
    .addOption(
      new Option("--log <format>", "a line for each request on stderr (default: text on a terminal)").choices(
        ["text", "json", "off"],
      ),
    )
    .option("--ui", "a page to look at: prints a link that opens it in one browser, once")
    .option("--metrics-open", "GET /metrics without a token (else with RESEARCH_SERVE_METRICS_TOKEN)")
    .addOption(
      new Option("--exec <command>", "run COMMAND against the service, then exit with its code").argParser(
        shellCommand,
      ),
    )
    .addHelpText("after", FAULTS)
    .document({
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
    })
    .action((options) => perform(async (ctx) => (await import("./run.js")).serve(ctx, options)));
  defineKeys(command, perform);
};

export const tryOut: Define = (program, perform) => {
  const command = program
    .command("try")
    .summary("answer a question from the files of a folder: no account, no key")
    .description("Start the local service for this one command and run a question against it. Nothing stays.")
    .argument("[prompt]", "the question; - or nothing reads stdin")
    .option("--sources <dir>", SOURCES);
  requestFlags(resultFlags(watchFlags(modelFlags(command))), { dryRun: false })
    .document({
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
    })
    .action((prompt, options) =>
      perform(async (ctx) => (await import("./try.js")).tryOut(ctx, prompt, options)),
    );
};

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
