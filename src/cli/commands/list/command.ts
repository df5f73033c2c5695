import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { createWholeNumberParser, defineValue, parsePositiveDuration } from "../flag-values.js";

export const list = defineCommand({
  name: "list",
  summary: "list the requests of this machine",
  description:
    "List the requests that this machine created: unknown outcomes first, then the newest. The command needs no settings.",
  flags: {
    "--limit <n>": defineValue("list at most this many", createWholeNumberParser(1), 20),
    "--status <status>": "only requests in this state, such as FAILED (UNKNOWN for unknown outcomes)",
    "--search <words>": "only requests whose prompt contains all of these words, ignoring case",
    "--since <duration>": defineValue("only requests sent within this time: 2h, 7d", parsePositiveDuration),
    "--refresh": "ask the service for the state of running requests",
  },
  output: "in a pipe, id TAB STATUS TAB created_at TAB prompt; with --json, an array",
  exits: {
    0: "listed, even if the list is empty; the codes 4 to 9 occur only with --refresh",
    ...listUsualExitCodes(4, 5, 6, 7, 9),
  },
  examples: ["research list", "research list --status UNKNOWN", "research list --json --limit 100"],
  run: async () => (await import("./run.js")).listRecordedRequests,
});
