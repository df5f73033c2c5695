import { defineCommand } from "../define-command.js";

export const show = defineCommand({
  name: "show",
  summary: "show the history's record of a request",
  description:
    "Show everything that the history of this machine records of a request. `status` asks the service instead.",
  arguments: [
    ["[id]", "an id, a local id, a unique prefix of either, or @last; without one you choose from a list"],
  ],
  output: "one field per line; with --json, one object",
  exits: { 5: "not in the history" },
  examples: ["research show @last"],
  run: async () => (await import("./run.js")).show,
});
