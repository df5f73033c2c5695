import type { Argument, Option } from "commander";
import { SETTINGS, type Setting } from "../../machine/setting-table.js";
import type { Verb } from "../commands/definition.js";
import { EXIT_CODE_MEANINGS, VARIABLES, type Variable, variableOf } from "./reference.js";
import { TOPICS, type Topic } from "./topics.js";

/** All of the help, for programs (contract §7). `schema_version` changes if a member changes its meaning or goes. */
export interface HelpDocument {
  schema_version: 1;
  version: string;
  description: string;
  options: OptionEntry[];
  commands: CommandEntry[];
  exit_codes: { code: number; meaning: string }[];
  environment: readonly Variable[];
  settings: SettingEntry[];
  topics: readonly Topic[];
}

/** The document of a program that has its commands. */
export function helpDocument(program: Verb, version: string): HelpDocument {
  return {
    schema_version: 1,
    version,
    description: program.description(),
    options: globalOptions(program),
    commands: program.commands.flatMap((command) => entries(command as Verb, [], globalOptions(program))),
    exit_codes: Object.entries(EXIT_CODE_MEANINGS).flatMap(([codes, meaning]) =>
      codes.split(", ").map((code) => ({ code: Number(code), meaning })),
    ),
    environment: VARIABLES,
    settings: Object.entries<Setting>(SETTINGS).map(([name, setting]) => ({
      name,
      description: setting.description,
      default: setting.default ?? null,
      choices: setting.choices ?? null,
      flags: setting.flags ?? [],
      variables: setting.variables ?? [],
    })),
    topics: TOPICS,
  };
}

/** What `config set` takes. */
export type SettingEntry = Required<Pick<Setting, "description" | "flags" | "variables">> & {
  name: string;
  default: string | null;
  choices: readonly string[] | null;
};

export interface ArgumentEntry {
  name: string;
  description: string;
  required: boolean;
  variadic: boolean;
  choices: string[] | null;
  default: unknown;
}

export interface OptionEntry {
  /** As help shows it: `-o, --output <path>`. */
  flags: string;
  /** The long name: `--output`. */
  name: string;
  short: string | null;
  description: string;
  /** The name of its value; null for a switch. */
  value: string | null;
  choices: string[] | null;
  default: unknown;
  /** The environment variable that says the same. */
  environment: string | null;
  /** Whether it belongs to a command above this one, or to the program. */
  global: boolean;
}

export interface CommandEntry {
  /** The words after `research`: `config get`. */
  name: string;
  summary: string;
  description: string;
  usage: string;
  /** The heading it stands under in `research --help`; null for a command below another one. */
  group: string | null;
  arguments: ArgumentEntry[];
  options: OptionEntry[];
  exit_codes: { code: number; meaning: string }[];
  /** What stands on stdout; null for nothing. */
  output: string | null;
  examples: string[];
}

/** The flags that every command takes. */
function globalOptions(program: Verb): OptionEntry[] {
  return program.options.map((option) => optionEntry(option, "", true));
}

/** A command and those below it. `parents`: the names of the commands above it; `above`: their flags, which it takes as well. */
function entries(command: Verb, parents: readonly string[], above: readonly OptionEntry[]): CommandEntry[] {
  const words = [...parents, command.name()];
  const name = words.join(" ");
  const { output, exits, examples } = command.documentation;
  const own = command.options.map((option) => optionEntry(option, name, false));
  const inherited = above.filter((option) => !own.some((one) => one.name === option.name));
  const entry: CommandEntry = {
    name,
    summary: command.summary() || command.description(),
    description: command.description(),
    usage: `research ${name} ${command.usage()}`,
    group: parents.length === 0 ? command.helpGroup() : null,
    arguments: command.registeredArguments.map(argumentEntry),
    options: [...own, ...inherited, HELP],
    exit_codes: Object.entries(exits ?? {}).map(([code, meaning]) => ({ code: Number(code), meaning })),
    output: output ?? null,
    examples: [...(examples ?? [])],
  };
  const passedOn = [...own.map((option) => ({ ...option, global: true })), ...inherited];
  return [entry, ...command.commands.flatMap((below) => entries(below as Verb, words, passedOn))];
}

/** commander keeps its own flag to itself. */
const HELP: OptionEntry = {
  ...{ flags: "-h, --help", name: "--help", short: "-h", description: "display help for command" },
  ...{ value: null, choices: null, default: null, environment: null, global: true },
};

function argumentEntry(argument: Argument): ArgumentEntry {
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic,
    choices: argument.argChoices ? [...argument.argChoices] : null,
    default: argument.defaultValue ?? null,
  };
}

function optionEntry(option: Option, command: string, global: boolean): OptionEntry {
  const [, value] = /[<[](.+)[>\]]/.exec(option.flags) ?? [];
  return {
    flags: option.flags,
    name: option.long ?? option.flags,
    short: option.short ?? null,
    description: option.description,
    value: value ?? null,
    choices: option.argChoices ? [...option.argChoices] : null,
    default: option.defaultValue ?? null,
    environment: variableOf(option.long ?? "", command),
    global,
  };
}
