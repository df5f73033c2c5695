import type { Define } from "../definition.js";

export const stop: Define = (program, perform) => {
  program
    .command("stop")
    .summary("stop running requests")
    .description(
      "Stop research. Nothing of it is kept, and it cannot be restarted; on a terminal it asks first.",
    )
    .argument("<id...>", "ids, unique prefixes of ids made here, or @last")
    .option("-y, --yes", "do not ask")
    .document({
      output: "<request_id> TAB STOPPED; --json: the service's data, an array for several ids",
      exits: {
        0: "stopped (or was already)",
        4: "key",
        5: "not found",
        6: "it has ended otherwise",
        7: "rate limited",
        9: "unreachable",
      },
      examples: ["research stop @last", "research stop -y 3f2a 77b0"],
    })
    .action((ids, options) => perform(async (ctx) => (await import("./run.js")).stop(ctx, ids, options)));
};
