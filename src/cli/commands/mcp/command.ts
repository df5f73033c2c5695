import { InvalidArgumentError } from "commander";
import { define } from "../definition.js";
import { createWholeNumberParser, defineValue } from "../flag-values.js";
import { flags } from "../flags.js";

export const mcp = define({
  name: "mcp",
  summary: "serve coding agents over the Model Context Protocol",
  description:
    "Be a Model Context Protocol server on stdin and stdout, for the profile in use, until stdin ends. An agent's " +
    "repeated call does not create a request twice. `research help agents` is the text for the agent.",
  flags: {
    ...flags.quota,
    ...flags.perDay,
    "--read-only": "offer no tool that creates or stops",
    "--max-creates <n>": defineValue(
      "creates that may be sent while this server lives",
      createWholeNumberParser(0),
    ),
    "--allow-dir <dir>": defineValue("a folder that results may be written to as new files", (text) => {
      if (text === "") throw new InvalidArgumentError("It must name a folder.");
      return text;
    }),
    "--print-config": "print what common clients want in their settings, and end",
  },
  output: "the protocol and nothing else; with --print-config, settings for clients",
  exits: { 0: "stdin has ended" },
  examples: ["research mcp --print-config", "research mcp --tier free --max-creates 5 --allow-dir ~/reports"],
  run: async () => (await import("./run.js")).runMcp,
});
