import { define } from "../definition.js";
import { defineValue, parsePositiveDuration } from "../flag-values.js";

export const history = define({
  name: "history",
  summary: "forget requests that have ended",
  description: "Take requests out of the history of this machine.",
  examples: ["research history forget --older-than 90d"],
  commands: [
    define({
      name: "forget",
      description:
        "Take prompt, context, id and kept result of requests off this disk; the service keeps its own. When each was sent, by " +
        "which account and what it cost stays without a name. On a terminal it asks first. Folders of batches are not touched.",
      arguments: [["[id...]", "ids, local ids, unique prefixes of them, or @last"]],
      flags: {
        "--older-than <duration>": defineValue(
          "all that were sent longer ago and have ended",
          parsePositiveDuration,
        ),
        "-y, --yes": "do not ask",
      },
      output: "id TAB FORGOTTEN; --json: {forgotten, skipped}",
      exits: {
        0: "forgotten",
        2: "bad input, or not confirmed",
        5: "not in the history",
        6: "unknown outcome, not ended, or of the last hour",
        12: "the history cannot be written",
      },
      examples: ["research history forget 3f2a 77b0", "research history forget --older-than 90d --yes"],
      run: async () => (await import("./run.js")).forgetHistory,
    }),
  ],
});
