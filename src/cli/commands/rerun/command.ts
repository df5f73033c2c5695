import { type Define, help } from "../definition.js";
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
    .option("--wait-for-quota", "where the hourly limit is reached, wait for it instead of ending with 7")
    .addHelpText("after", help({ output: "as create", examples: ["research rerun @last --watch"] }))
    .action((id, options) => perform(async (ctx) => (await import("./run.js")).rerun(ctx, id, options)));
};
