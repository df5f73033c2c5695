import type { Argument, Option } from "commander";
import { SETTINGS, type Setting } from "../../app/setting-table.js";
import { wrapAtWords } from "../../core/text/text-width.js";
import type { DocumentedCommand } from "../commands/define-command.js";
import { EXIT_CODE_MEANINGS, findVariable, VARIABLES } from "./exit-codes-and-variables.js";
import { TOPICS, WIDTH } from "./topics.js";

/** The whole help, for programs (contract §7). If a member is removed or changes its meaning, `schema_version` changes. */
export type HelpDocument = ReturnType<typeof buildHelpDocument>;

export function buildHelpDocument(program: DocumentedCommand, version: string) {
  return {
    schema_version: 1,
    version,
    description: program.description(),
    options: listGlobalOptions(program),
    commands: program.commands.flatMap((command) =>
      buildCommandEntries(command as DocumentedCommand, [], listGlobalOptions(program)),
    ),
    exit_codes: Object.entries(EXIT_CODE_MEANINGS).map(([code, meaning]) => ({
      code: Number(code),
      meaning,
    })),
    environment: VARIABLES,
    settings: Object.entries<Setting>(SETTINGS).map(([name, setting]) => ({
      name,
      description: setting.description,
      default: setting.default ?? null,
      choices: setting.choices ?? null,
      flags: setting.flags ?? [],
      variables: setting.variables ?? [],
    })),
    topics: TOPICS.map((topic) => ({ ...topic, text: wrapAtWords(topic.text, WIDTH) })),
  };
}

export type ArgumentEntry = ReturnType<typeof buildArgumentEntry>;
export type OptionEntry = ReturnType<typeof buildOptionEntry>;
export type CommandEntry = ReturnType<typeof buildCommandEntry>;

function listGlobalOptions(program: DocumentedCommand): OptionEntry[] {
  return program.options.map((option) => buildOptionEntry(option, "", true));
}

/** Builds the entries of a command and its subcommands. `parents`: the names above it. `global`: the flags of all commands. */
function buildCommandEntries(
  command: DocumentedCommand,
  parents: readonly string[],
  global: readonly OptionEntry[],
): CommandEntry[] {
  const words = [...parents, command.name()];
  const ownOptions = command.options.map((option) => buildOptionEntry(option, words.join(" "), false));
  const others = global.filter((option) => !ownOptions.some((other) => other.name === option.name));
  const entry = buildCommandEntry(command, words, [...ownOptions, ...others, HELP]);
  return [
    entry,
    ...command.commands.flatMap((below) => buildCommandEntries(below as DocumentedCommand, words, global)),
  ];
}

function buildCommandEntry(command: DocumentedCommand, words: readonly string[], options: OptionEntry[]) {
  const { output, exits, examples } = command.documentation;
  return {
    /** The words after `research`, such as `config get`. */
    name: words.join(" "),
    summary: command.summary() || command.description(),
    description: command.description(),
    usage: `research ${words.join(" ")} ${command.usage()}`,
    /** The heading above the command in `research --help`; null for a subcommand. */
    group: words.length === 1 ? command.helpGroup() : null,
    arguments: command.registeredArguments.map(buildArgumentEntry),
    options,
    exit_codes: Object.entries(exits ?? {}).map(([code, meaning]) => ({ code: Number(code), meaning })),
    /** What the command prints on stdout; null if nothing. */
    output: output ?? null,
    examples: [...(examples ?? [])],
  };
}

/** The help flag, which commander does not include in its options. */
const HELP: OptionEntry = {
  ...{ flags: "-h, --help", name: "--help", short: "-h", description: "display help for command" },
  ...{ group: null, value: null, choices: null, default: null, environment: null, global: true },
};

function buildArgumentEntry(argument: Argument) {
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic,
    choices: argument.argChoices ? [...argument.argChoices] : null,
    default: (argument.defaultValue ?? null) as unknown,
  };
}

function buildOptionEntry(option: Option, command: string, global: boolean) {
  const [, value] = /[<[](.+)[>\]]/.exec(option.flags) ?? [];
  return {
    flags: option.flags,
    name: option.long ?? option.flags,
    short: option.short ?? null,
    description: option.description,
    /** The heading above the flag in the help of its command; null for a flag of every command. */
    group: global ? null : (option.helpGroupHeading ?? "Options:"),
    /** The name of the flag's value; null for a switch. */
    value: value ?? null,
    choices: option.argChoices ? [...option.argChoices] : null,
    default: (option.defaultValue ?? null) as unknown,
    environment: findVariable(option.long ?? "", command),
    global,
  };
}
