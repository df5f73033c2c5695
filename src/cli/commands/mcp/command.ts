import { defineCommand } from "../define-command.js";
import { createWholeNumberParser, defineValue } from "../flag-values.js";
import { flags } from "../shared-flags.js";

export const mcp = defineCommand({
  name: "mcp",
  summary: "serve coding agents over the Model Context Protocol",
  description:
    "Run a Model Context Protocol server on stdin and stdout, for the profile in use, until stdin ends. If an agent " +
    "repeats a call, no second request is created. `research help agents` is written for the agent.",
  flags: {
    ...flags.quota,
    ...flags.perDay,
    "--read-only": "offer no tool that creates or stops requests",
    "--max-creates <n>": defineValue(
      "how many requests the server may create while it runs",
      createWholeNumberParser(0),
    ),
    "--allow-dir <dir>": "allow results to be written to this folder as new files",
    "--print-config": "print the settings for common clients, and exit",
  },
  output: "only the protocol; with --print-config, settings for clients",
  exits: { 0: "stdin ended" },
  examples: ["research mcp --print-config", "research mcp --tier free --max-creates 5 --allow-dir ~/reports"],
  run: async () => (await import("./run.js")).runMcp,
});
