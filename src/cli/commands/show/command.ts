import { define } from "../definition.js";

export const show = define({
  name: "show",
  summary: "show what the history holds of a request",
  description:
    "Show everything the history of this machine holds of one request. `status` asks the service instead.",
  arguments: [["[id]", "an id, a local id, a unique prefix of one, or @last; you choose if none is given"]],
  output: "a field a line; --json: one object",
  exits: { 0: "shown", 5: "not in the history", 12: "the history cannot be read" },
  examples: ["research show @last"],
  run: async () => (await import("./run.js")).show,
});
