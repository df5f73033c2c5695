import type { Define } from "../definition.js";

export const status: Define = (program, perform) => {
  program
    .command("status")
    .summary("show the state of requests")
    .description(
      "Ask the service for the state of one request or several. `show` asks the history of this machine instead.",
    )
    .argument("<id...>", "ids, unique prefixes of ids made here, or @last")
    .option("-q, --quiet", "the bare state")
    .option("--exit-status", "exit as `watch` would: 0 COMPLETED, 3 FAILED, 8 still running, 10 STOPPED")
    .document({
      output: "<request_id> TAB <STATUS>; --json: the service's data, an array for several ids",
      exits: { 0: "answered", 4: "key", 5: "not found", 7: "rate limited", 9: "unreachable" },
      examples: ["research status @last", "research status -q 3f2a"],
    })
    .action((ids, options) => perform(async (ctx) => (await import("./run.js")).status(ctx, ids, options)));
};
