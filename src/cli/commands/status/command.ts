import { defineCommand, listUsualExitCodes } from "../define-command.js";

export const status = defineCommand({
  name: "status",
  summary: "show the state of requests",
  description:
    "Ask the service for the state of one or more requests. `show` reads the history of this machine instead.",
  arguments: [["<id...>", "ids, unique prefixes of ids in the history, or @last"]],
  flags: {
    "-q, --quiet": "print only the state",
    "--exit-status": "exit as `watch` would: 0 COMPLETED, 3 FAILED, 8 still running, 10 STOPPED",
  },
  output: "<request_id> TAB <STATUS>; with --json, the service's `data`, or an array for several ids",
  exits: {
    0: "the service answered",
    ...{ 3: "FAILED (--exit-status)", 8: "still running (--exit-status)", 10: "STOPPED (--exit-status)" },
    ...listUsualExitCodes(4, 5, 6, 7, 9, 11),
  },
  examples: ["research status @last", "research status -q 3f2a"],
  run: async () => (await import("./run.js")).runStatus,
});
