import { CommanderError } from "commander";
import type { Define, DocumentedCommand } from "../define-command.js";

/** Defines `help` without `define`, because it needs the program and shows a command's help as commander does. */
export const help: Define = (program, perform) => {
  program
    .command("help")
    .summary("show help for a command or a topic")
    .description("Show help for a command or a topic. Without either, list the topics.")
    .argument("[topic...]", "a topic, or the name of a command")
    .setDocumentation({
      output: "text; with --json, one object with commands, exit codes, environment and topics",
      exits: { 0: "shown", 2: "no such command or topic" },
      examples: ["research help exit-codes", "research help config set", "research help --json run"],
    })
    .action((words: string[]) => {
      const named =
        words.length > 0 && program.opts().json !== true ? findCommand(program, words) : undefined;
      if (named) {
        // Commander's own `help` ends with the exit code of the process, which is 1 until the command has ended.
        named.outputHelp();
        throw new CommanderError(0, "commander.helpDisplayed", "");
      }
      perform(async (ctx) => (await import("./run.js")).help(ctx, program, words));
    });
};

function findCommand(program: DocumentedCommand, words: readonly string[]): DocumentedCommand | undefined {
  let at: DocumentedCommand | undefined = program;
  for (const word of words)
    at = at?.commands.find((command) => command.name() === word) as DocumentedCommand | undefined;
  return at;
}
