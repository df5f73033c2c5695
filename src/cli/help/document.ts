import type { Verb } from "../commands/definition.js";
import { type CommandEntry, commandTable, globalOptions, type OptionEntry } from "./command-table.js";
import { VARIABLES, type Variable } from "./environment.js";
import { EXIT_CODE_MEANINGS } from "./exit-codes.js";
import type { Topic } from "./topic.js";
import { TOPICS } from "./topics.js";

/** All of the help, for programs (contract §7). `schema_version` changes if a member changes its meaning or goes. */
export interface HelpDocument {
  schema_version: 1;
  version: string;
  description: string;
  options: OptionEntry[];
  commands: CommandEntry[];
  exit_codes: { code: number; meaning: string }[];
  environment: (Pick<Variable, "name" | "description"> & {
    flag: string | null;
    commands: string[] | null;
  })[];
  topics: Topic[];
}

/** The document of a program that has its commands. */
export function helpDocument(program: Verb, version: string): HelpDocument {
  return {
    schema_version: 1,
    version,
    description: program.description(),
    options: globalOptions(program),
    commands: commandTable(program),
    exit_codes: EXIT_CODE_MEANINGS.flatMap(({ codes, meaning }) => codes.map((code) => ({ code, meaning }))),
    environment: VARIABLES.map(({ name, description, flag, commands }) => ({
      name,
      description,
      flag: flag ?? null,
      commands: commands ? [...commands] : null,
    })),
    topics: [...TOPICS],
  };
}
