import { EXITS, LIMITS, WAITING } from "../create/command.js";
import { defineCommand } from "../define-command.js";
import { flags } from "../shared-flags.js";

export const rerun = defineCommand({
  name: "rerun",
  summary: "submit a question again",
  description: "Create a new request with the prompt, context and schema of an earlier one.",
  arguments: [["<id>", "an id, a local id, a unique prefix of either, or @last"]],
  flags: {
    "Question:": { ...flags.context, ...flags.dryRun },
    "Account:": flags.provider,
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "the same as for `create`",
  exits: { ...EXITS, 5: "not in the history, or not found" },
  examples: ["research rerun @last --watch"],
  run: async () => (await import("./run.js")).rerun,
});
