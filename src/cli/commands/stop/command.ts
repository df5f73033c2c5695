import { defineCommand, listUsualExitCodes } from "../define-command.js";

export const stop = defineCommand({
  name: "stop",
  summary: "stop running requests",
  description:
    "Stop requests. Their results are lost, and they cannot be restarted. On a terminal the command asks first.",
  arguments: [["<id...>", "ids, unique prefixes of ids in the history, or @last"]],
  flags: { "-y, --yes": "do not ask" },
  output: "<request_id> TAB STOPPED; with --json, the service's `data`, or an array for several ids",
  exits: {
    0: "stopped, now or earlier",
    6: "the request is COMPLETED or FAILED, or its provider cannot stop it",
    ...listUsualExitCodes(4, 5, 7, 8, 9, 11),
  },
  examples: ["research stop @last", "research stop -y 3f2a 77b0"],
  run: async () => (await import("./run.js")).stop,
});
