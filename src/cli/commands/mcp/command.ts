import { InvalidArgumentError, Option } from "commander";
import type { Define } from "../definition.js";
import { quotaFlags, wholeNumber } from "../flags.js";

export const mcp: Define = (program, perform) => {
  const command = program
    .command("mcp")
    .summary("serve coding agents over the Model Context Protocol")
    .description(
      "Be a Model Context Protocol server on stdin and stdout, for the profile in use, until stdin ends. An agent's " +
        "repeated call does not create a request twice. `research help agents` is the text for the agent.",
    );
  quotaFlags(command)
    .option("--read-only", "offer no tool that creates or stops")
    .addOption(
      new Option("--max-creates <n>", "creates that may be sent while this server lives").argParser(
        wholeNumber(0),
      ),
    )
    .addOption(
      new Option("--allow-dir <folder>", "a folder that results may be written to as new files").argParser(
        (text) => {
          if (text === "") throw new InvalidArgumentError("It must name a folder.");
          return text;
        },
      ),
    )
    .option("--print-config", "print what common clients want in their settings, and end")
    .document({
      output: "the protocol and nothing else; with --print-config, settings for clients",
      exits: { 0: "stdin has ended", 2: "bad input" },
      examples: [
        "research mcp --print-config",
        "research mcp --tier free --max-creates 5 --allow-dir ~/reports",
      ],
    })
    .action((options) => perform(async (ctx) => (await import("./run.js")).mcp(ctx, options)));
};
