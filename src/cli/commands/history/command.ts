import { defineCommand } from "../define-command.js";
import { defineValue, parsePositiveDuration } from "../flag-values.js";

export const history = defineCommand({
  name: "history",
  summary: "remove ended requests from the history",
  description: "Remove requests from the history of this machine.",
  examples: ["research history forget --older-than 90d"],
  commands: [
    defineCommand({
      name: "forget",
      description:
        "Remove the prompt, context, id and stored result of requests from this disk. The service keeps its copy. The history keeps the time, " +
        "the account and the cost of each request, but not its id. On a terminal the command asks first. Batch folders are not changed.",
      arguments: [["[id...]", "ids, local ids, unique prefixes of either, or @last"]],
      flags: {
        "--older-than <duration>": defineValue(
          "all ended requests that were sent longer ago than this",
          parsePositiveDuration,
        ),
        "-y, --yes": "do not ask",
      },
      output: "id TAB FORGOTTEN; with --json, {forgotten, skipped}",
      exits: {
        2: "bad input, or not confirmed",
        5: "not in the history",
        6: "the outcome is unknown, or the request has not ended or is less than an hour old",
      },
      examples: ["research history forget 3f2a 77b0", "research history forget --older-than 90d --yes"],
      run: async () => (await import("./run.js")).forgetHistory,
    }),
  ],
});
