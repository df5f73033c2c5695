import { define, listUsualExits } from "../definition.js";
import { createWholeNumberParser, defineValue, parsePositiveDuration } from "../flag-values.js";

export const list = define({
  name: "list",
  summary: "list what this machine created",
  description: "List what this machine created: unknown outcomes first, then the newest. Needs no settings.",
  flags: {
    "--limit <n>": defineValue("how many", createWholeNumberParser(1), 20),
    "--status <status>": "only those in this state, such as FAILED (UNKNOWN for unknown outcomes)",
    "--search <words>": "only those whose prompt has all of these words, in any case",
    "--since <duration>": defineValue("only those sent within this time: 2h, 7d", parsePositiveDuration),
    "--refresh": "ask the service for the state of those that still run",
  },
  output: "in a pipe: id TAB STATUS TAB created_at TAB prompt; --json: an array",
  exits: {
    0: "listed, also if there is nothing",
    12: "the history cannot be read",
    ...listUsualExits(4, 5, 6, 7, 9),
  },
  examples: ["research list", "research list --status UNKNOWN", "research list --json --limit 100"],
  run: async () => (await import("./run.js")).list,
});
