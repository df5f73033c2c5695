import { type Define, help } from "../definition.js";
import { wholeNumber } from "../flags.js";

export const list: Define = (program, perform) => {
  program
    .command("list")
    .summary("list what this machine created")
    .description(
      "List what this machine created: unknown outcomes first, then the newest. Needs no settings.",
    )
    .option("--limit <n>", "how many", wholeNumber(1), 20)
    .option("--status <status>", "only those in this state (UNKNOWN for unknown outcomes)")
    .option("--refresh", "ask the service for the state of those that still run")
    .addHelpText(
      "after",
      help({
        output: "in a pipe: id TAB STATUS TAB created_at TAB prompt; --json: an array",
        examples: ["research list", "research list --status UNKNOWN", "research list --json --limit 100"],
      }),
    )
    .action((options) => perform(async (ctx) => (await import("./run.js")).list(ctx, options)));
};
