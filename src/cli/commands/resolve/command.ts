import { defineCommand } from "../define-command.js";

export const resolve = defineCommand({
  name: "resolve",
  summary: "record whether a request with an unknown outcome exists",
  description:
    "Record in the history whether a request with an unknown outcome exists. The command sends nothing.",
  arguments: [["<local-id>", "the local id, from `research list`"]],
  flags: {
    "--request-id <id>": "the request exists and has this id",
    "--not-created": "the request does not exist",
  },
  exits: { 5: "not in the history", 6: "the outcome is already known" },
  examples: ["research resolve local-3f2a --not-created"],
  run: async () => (await import("./run.js")).resolve,
});
