import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { flags } from "../shared-flags.js";

export const watch = defineCommand({
  name: "watch",
  summary: "wait until requests have ended",
  description:
    "Poll until every request is COMPLETED, FAILED or STOPPED. Ctrl-C ends the watch, never the research.",
  arguments: [
    ["[id...]", "ids, unique prefixes of ids in the history, or @last; without one you choose from a list"],
  ],
  flags: { ...flags.pace, ...flags.notify },
  output:
    "<request_id> TAB <STATUS> when a request ends; with --json, one object per line for each change of state",
  exits: {
    0: "all COMPLETED",
    8: "--timeout was reached",
    6: "the service refused to return the status",
    9: "an id was given up because no poll succeeded",
    ...listUsualExitCodes(3, 4, 5, 10, 11),
  },
  examples: ["research watch @last", "research watch --timeout 2h 3f2a 77b0"],
  run: async () => (await import("./run.js")).watch,
});
