import { type Command, InvalidArgumentError, Option } from "commander";
import { TIERS } from "../../protocol/limits.js";
import { parseDuration } from "../../text/duration.js";

/** A duration as commander reads it, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError("Invalid duration: use 500ms, 30s, 10m, 2h, 3d or a number of seconds.");
  return ms;
}

/** A duration that is more than nothing. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms <= 0) throw new InvalidArgumentError("It must be more than 0.");
  return ms;
}

/** A whole number from `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`);
    return value;
  };
}

/** Flags of the commands that make a request. */
export function requestFlags<C extends Command>(command: C, { dryRun = true } = {}): C {
  if (dryRun) command.option("--dry-run", "send nothing; print the request as a curl command");
  return command
    .option("--prompt-file <path>", "read the prompt from a file (-: stdin)")
    .option("--schema <file|-|json>", "a JSON Schema for the result")
    .option("--structured", "ask for structured output without a schema");
}

/** Flags of the commands that count against the hourly limit. */
export function quotaFlags<C extends Command>(command: C): C {
  return command
    .addOption(new Option("--tier <tier>", "the tier of the key").choices(Object.keys(TIERS)))
    .addOption(
      new Option("--per-hour <n>", "creates allowed in an hour, if no tier has that number").argParser(
        wholeNumber(1),
      ),
    );
}

/** Flags of the commands that watch requests, and may end before these do. */
export function watchFlags<C extends Command>(command: C): C {
  return paceFlags(command).option("--stop-on-interrupt", "Ctrl-C stops the research too");
}

/** Flags of the commands that poll. */
export function paceFlags<C extends Command>(command: C): C {
  return command
    .addOption(
      new Option("--timeout <duration>", "stop waiting after this long; 0 for never").argParser(duration),
    )
    .addOption(
      new Option(
        "--queue-timeout <duration>",
        "stop waiting for what is PENDING after this long; 0 for never",
      ).argParser(duration),
    )
    .addOption(
      new Option("--interval <duration>", "poll at this fixed pace (default: adaptive)").argParser(
        positiveDuration,
      ),
    )
    .addOption(
      new Option(
        "--patience <duration>",
        "give an id up when no poll has succeeded for this long (default: 10m)",
      ).argParser(positiveDuration),
    );
}

/** The flag of the commands that see requests end. */
export function onDoneFlag<C extends Command>(command: C): C {
  return command.option(
    "--on-done <command>",
    "run a shell command for each request that ended, with RESEARCH_REQUEST_ID, RESEARCH_STATUS and, where " +
      "the result went to a file, RESEARCH_RESULT_FILE",
  );
}

/** Flags of the commands that deliver a result. */
export function resultFlags<C extends Command>(command: C): C {
  return command
    .option("-o, --output <path>", "write the result to a file, whole or not at all (-: stdout)")
    .option("--force", "overwrite an existing file")
    .option("--strict", "fail (13) if the result does not fit its schema")
    .option("--raw", "give the result as it came, on a terminal too")
    .option("--html", "give the result as one HTML page that needs no network")
    .option("--web", "open the result as a page in a browser");
}
