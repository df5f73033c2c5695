import { Command } from "commander";
import type { Context } from "../context.js";

/** Hands over what a command does; it runs after the arguments have been read. */
export type Perform = (action: (ctx: Context) => Promise<number>) => void;

/** Adds one verb to the program: its flags, its help, and which action it performs. */
export type Define = (program: Verb, perform: Perform) => void;

/** What a command's help says beside its arguments and flags. */
export interface Documentation {
  /** What stands on stdout. */
  output?: string;
  /** The exit codes a user of this command meets, each with its cause. The whole table is `EXIT_CODE_MEANINGS`. */
  exits?: Readonly<Record<number, string>>;
  /** Command lines that work as they stand. */
  examples?: readonly string[];
}

/** A command of the program, with its documentation as data: the help pages and `help --json` are made of it. */
export class Verb extends Command {
  documentation: Documentation = {};

  override createCommand(name?: string): Verb {
    return new Verb(name);
  }

  /** Documents the command; the same text stands below the flags in its help. */
  document(documentation: Documentation): this {
    this.documentation = documentation;
    return this.addHelpText("after", textOf(documentation));
  }
}

function textOf({ output, exits, examples = [] }: Documentation): string {
  const codes = Object.entries(exits ?? {}).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`);
  return [
    "",
    ...(output ? ["Output:", `  ${output}`] : []),
    ...(codes.length > 0 ? ["Exit codes:", ...codes] : []),
    ...(examples.length > 0 ? ["Examples:", ...examples.map((example) => `  $ ${example}`)] : []),
  ].join("\n");
}
