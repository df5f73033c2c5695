import { type Argument, type Command, CommanderError, Help, type Option } from "commander";
import { NAME_ONE, UsageError } from "../app/errors.js";
import { wrapAtWords } from "../core/text/text-width.js";
import type { Context, GlobalFlags } from "./command-context.js";
import { DocumentedCommand, type OptionsOf, type Perform } from "./commands/define-command.js";
import { defineValue, parsePositiveDuration } from "./commands/flag-values.js";
import { GROUPS } from "./commands.js";
import type { Host, ProcessEnding, Sink } from "./terminal/host.js";
import { Interrupted, Interruption } from "./terminal/interruption.js";
import { ClosedPipeError, Reporter } from "./terminal/reporter.js";
import { chooseStyle, getTerminalColumns } from "./terminal/style.js";

/** Reads the arguments, runs the action, and maps an error to a message and to how the process ends. */
export async function runCommand(argv: readonly string[], host: Host): Promise<ProcessEnding> {
  const interruption = new Interruption(host);
  const reporter = new Reporter(host, isJsonWanted(argv, host.env), interruption.signal);
  let ctx: Context | undefined;
  // An interrupted command must end by its signal, even if it wrote more output, because only then does a shell loop around it
  // stop.
  const createEnding = (code: number, signal = interruption.unhandled): ProcessEnding => ({
    code,
    ...(signal && { signal }),
  });
  try {
    const request = await parseArguments(argv, host);
    if (request.kind === "text") {
      await reporter.writeResult(await formatHelp(host.stdout, host.env, request.text));
      return { code: 0 };
    }
    if (request.kind === "help") {
      if (!reporter.json)
        await host.stderr.write(await formatHelp(host.stderr, host.env, `${request.text}\n`)).catch(() => {});
      throw new UsageError("no command was given");
    }
    checkOutputVariable(host.env);
    // Help and usage errors need no settings, history or client, so load these only now.
    const { Context } = await import("./command-context.js");
    const { createKeyFileReader: createKeyReader } = await import("../app/resolve-settings.js");
    const read = request.usesKey
      ? await createKeyReader(host.env, host.clock, interruption.signal)
      : undefined;
    ctx = new Context(host, request.flags, reporter, interruption, read);
    return createEnding(await request.action(ctx));
  } catch (error) {
    reporter.stopLive();
    if (error instanceof ClosedPipeError) return createEnding(0);
    const { describeCommandFailure, addErrorPlace: addPlace } = await import("./errors.js");
    const failure = describeCommandFailure(await addPlace(error));
    await reporter.writeError(failure);
    if (failure.code === "INTERNAL" && argv.includes("--verbose") && error instanceof Error) {
      await reporter.writeNotice("STACK", error.stack ?? "");
    }
    return createEnding(failure.exit_code, error instanceof Interrupted ? error.signal : undefined);
  } finally {
    await ctx?.close();
    interruption.release();
  }
}

/** Formats help for a stream. On a terminal, headings are bold and lines are wrapped to its width. */
async function formatHelp(sink: Sink, env: Host["env"], text: string): Promise<string> {
  const { bold } = await chooseStyle(sink, env);
  return wrapAtWords(text, getTerminalColumns(sink)).replace(/^(?:Usage:|\S.*:$)/gm, (heading) =>
    bold(heading),
  );
}

function checkOutputVariable({ RESEARCH_OUTPUT: value }: Host["env"]): void {
  if (value && value !== "json" && value !== "human")
    throw new UsageError(
      `invalid value for RESEARCH_OUTPUT: ${JSON.stringify(value)}`,
      "The value must be json or human (the default).",
    );
}

/** Returns whether JSON is wanted. Called before the arguments are parsed, because errors in the arguments are JSON, too. */
function isJsonWanted(argv: readonly string[], env: Host["env"]): boolean {
  const end = argv.indexOf("--");
  return env.RESEARCH_OUTPUT === "json" || argv.slice(0, end < 0 ? undefined : end).includes("--json");
}

const globalFlags = {
  "--json": "JSON on stdout, errors as JSON on stderr (or RESEARCH_OUTPUT=json)",
  "-p, --profile <name>": {
    description: "the profile to use",
    parse: (text: string, before: string): string => (before ? `${before}\n${text}` : text),
  },
  "--base-url <url>": "the base URL of the service",
  "--insecure-http": "allow plain http:// to another machine",
  "--request-timeout <duration>": defineValue(
    "the time limit of one HTTP request (default: 30s)",
    parsePositiveDuration,
  ),
  "--verbose": "print the settings in use and each HTTP request",
} as const;

const GLOBAL_LINE = `\nGlobal options: ${Object.keys(globalFlags)
  .map((form) => form.replace(/[ ,].*/, ""))
  .join(" ")}`;

/** The outcome of parsing the arguments: a text to print, or an action with the global flags. */
type ParsedArguments =
  | { kind: "text"; text: string }
  /** No command was named, or one without its subcommand; `text` lists the commands. */
  | { kind: "help"; text: string }
  | { kind: "action"; flags: GlobalFlags; usesKey: boolean; action: (ctx: Context) => Promise<number> };

/** The commands that never need the key. The key file is not read for them, because reading a FIFO may wait. */
const KEYLESS: ReadonlySet<string> = new Set([...["login", "logout", "try", "serve", "help", "completion"]]);

/** Parses the arguments. Throws UsageError, which suggests the nearest name if there is one. `isWhole`: defines all commands, not only those that `argv` may name. */
async function parseArguments(
  argv: readonly string[],
  host: Host,
  isWhole = argv.includes("help"),
): Promise<ParsedArguments> {
  const { version, stdout, stderr } = host;
  let text = "";
  let helped: Command | undefined;
  let action: ((ctx: Context) => Promise<number>) | undefined;
  let usage = "";
  const program = new DocumentedCommand("research").exitOverride().configureOutput({
    writeOut: (part) => {
      text += part;
    },
    writeErr: (part) => {
      usage += part;
    },
    // By default, commander opens the streams of the process to find these out.
    getOutHelpWidth: () => getTerminalColumns(stdout),
    getErrHelpWidth: () => getTerminalColumns(stderr),
    getOutHasColors: () => true,
    getErrHasColors: () => true,
  });
  describeProgram(program, version);
  program.addHelpText("beforeAll", ({ command }) => {
    helped = command;
    return "";
  });
  program.addHelpText("afterAll", ({ command }) => (command.parent ? GLOBAL_LINE : ""));
  // A command inherits the settings that the program has when it is added, so add the commands last.
  const perform: Perform = (performed) => {
    action = performed;
  };
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(commands))
      if (isWhole || argv.includes(name)) (await load())(program, perform);
      else program.command(name);
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The help of the program describes each command, so define all commands first.
    if (!isWhole && helped === program) return parseArguments(argv, host, true);
    if (error.exitCode === 0 && helped)
      return renderHelpJson(program, helped, argv, host) ?? { kind: "text", text };
    if (error.exitCode === 0) return { kind: "text", text };
    if (error.code !== "commander.help") throw createUsageError(error, program, argv);
  }
  if (!action) return { kind: "help", text: usage };
  const usesKey = !KEYLESS.has(program.args[0] ?? "");
  // The type treats each flag as given, so that the compiler rejects a flag that GlobalFlags lacks.
  const globalOptions: Omit<Required<GlobalFlags>, "profiles"> = program.opts<
    Required<OptionsOf<typeof globalFlags>>
  >();
  return { kind: "action", flags: splitProfileFlags(globalOptions, program.args[0]), usesKey, action };
}

/** Splits the value of --profile. Throws UsageError for several profiles, unless the command is `compare`. */
function splitProfileFlags({ profile, ...flags }: GlobalFlags, command: string | undefined): GlobalFlags {
  const profiles = profile?.split("\n") ?? [];
  if (command === "compare") return { ...flags, profiles };
  if (profiles.length > 1)
    throw new UsageError(
      "option '-p, --profile <name>' argument is invalid. It may be given once.",
      "`research compare` takes several.",
    );
  return profile === undefined ? flags : { ...flags, profile };
}

/** Returns the action that prints the help of a command as JSON; undefined without --json. Throws UsageError for an unknown subcommand. */
function renderHelpJson(
  program: DocumentedCommand,
  command: Command,
  argv: readonly string[],
  host: Host,
): ParsedArguments | Promise<ParsedArguments> | undefined {
  const isName = (word: string | undefined) => word !== undefined && !word.startsWith("-");
  // commander ignores an unknown subcommand before --help, so parse again without --help to get the error.
  if (command.commands.length > 0 && isName(command.args[0]))
    return parseArguments(
      argv.filter((word) => word !== "--help" && word !== "-h"),
      host,
    );
  if (!argv.includes("--json")) return undefined;
  const words = listCommandNames(command);
  const showHelp = async (ctx: Context) => (await import("./commands/help/run.js")).help(ctx, program, words);
  return { kind: "action", flags: { json: true }, usesKey: false, action: showHelp };
}

function listCommandNames(command: Command): string[] {
  return command.parent ? [...listCommandNames(command.parent), command.name()] : [];
}

function describeProgram(program: DocumentedCommand, version: string): void {
  program
    .description(
      "Submit and manage deep research: every request is recorded before it is sent and never lost.",
    )
    .version(version, "-V, --version")
    .addFlags(globalFlags)
    // A subcommand does not have the flags of its parent, although commander shows them in its help.
    .configureHelp({
      // The last line of each page names the flags of every command.
      visibleOptions: (command) =>
        command.parent ? [...command.options] : new Help().visibleOptions(command),
      optionDescription: describeOption,
      argumentDescription: describeOption,
      // Leave out "[options]" in lists of commands, because nearly every command has options.
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace(/\[(?:options|command)\] ?/g, "")}`.trim(),
    })
    // Our own `help` command also shows topics.
    .helpCommand(false)
    .addHelpText(
      "after",
      '\nNew here? `research try "your question"` searches the files of this folder. It needs no account and no key.\nTo use an account at OpenAI, Perplexity, Exa, Parallel, Gemini or Tavily, run `research login PROVIDER`.\n`research help` lists the topics: exit codes, settings, JSON and more.',
    );
}

/** Describes a flag or an argument, with its default and its allowed values. */
function describeOption({ description, defaultValue, argChoices }: Option | Argument): string {
  const initial = [defaultValue ?? []].flat().length === 0 ? "" : ` (default: ${defaultValue})`;
  return `${description}${initial}${argChoices ? ` (${argChoices.join(", ")})` : ""}`;
}

/** Converts commander's error. Its suggestion becomes the hint; without one, the hint names the help of the command. */
function createUsageError(
  error: CommanderError,
  program: DocumentedCommand,
  argv: readonly string[],
): UsageError {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const [, name] = /^too many arguments for '(.+?)'/.exec(first) ?? [];
  const command = program.commands.find((candidate) => candidate.name() === name);
  if (command?.registeredArguments.some((argument) => argument.name() === "prompt"))
    return new UsageError(first, "Put a prompt of several words in quotes.");
  if (/^missing required argument 'id'/.test(first)) return new UsageError(first, NAME_ONE);
  const suggestion = rest
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  let named: Command = program;
  for (const word of argv) named = named.commands.find((candidate) => candidate.name() === word) ?? named;
  const help = ["research", ...listCommandNames(named), "--help"].join(" ");
  const what = named === program ? "lists the commands" : "shows the arguments and options";
  return new UsageError(first, suggestion || `\`${help}\` ${what}.`);
}
