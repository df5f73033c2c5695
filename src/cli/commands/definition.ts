import type { Command } from "commander";
import type { Context } from "../context.js";

/** Hands over what a command does; it runs after the arguments have been read. */
export type Perform = (action: (ctx: Context) => Promise<number>) => void;

/** Adds one verb to the program: its flags, its help, and which action it performs. */
export type Define = (program: Command, perform: Perform) => void;

/** What stands below the flags in a command's help. */
export function help(parts: { output?: string; exits?: string; examples: readonly string[] }): string {
  return [
    "",
    ...(parts.output ? ["Output:", `  ${parts.output}`] : []),
    ...(parts.exits ? ["Exit codes:", `  ${parts.exits}`] : []),
    "Examples:",
    ...parts.examples.map((example) => `  $ ${example}`),
  ].join("\n");
}
