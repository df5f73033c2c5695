import type { Define } from "../definition.js";
import { quotaFlags, watchFlags } from "../flags.js";

export const rerun: Define = (program, perform) => {
  const command = program
    .command("rerun")
    .summary("submit an old question again")
    .description("Make a new request with the prompt and the schema of an old one.")
    .argument("<id>", "an id, a local id, a unique prefix of one, or @last")
    .option("--dry-run", "send nothing; print the request as a curl command")
    .option("-w, --watch", "then go on as `watch`");
  quotaFlags(watchFlags(command))
    .option("--wait-for-quota", "when the hourly limit is reached, wait instead of exiting with 7")
    .document({
      output: "as create",
      exits: {
        0: "created",
        2: "bad input",
        4: "key",
        5: "not in the history",
        6: "refused",
        7: "rate limited",
        9: "unreachable",
        11: "outcome unknown",
        12: "not recorded",
      },
      examples: ["research rerun @last --watch"],
    })
    .action((id, options) => perform(async (ctx) => (await import("./run.js")).rerun(ctx, id, options)));
};
