import { defineCommand } from "../define-command.js";
import { flags } from "../shared-flags.js";

export const quota = defineCommand({
  name: "quota",
  summary: "show how much of the hourly limit is left",
  description:
    "Show how many create requests of the last hour count towards the limit of the key in use, and when the next create request is " +
    "allowed. The command sends nothing. It counts the create requests in the history of this machine, also those with an unknown " +
    "outcome, but it does not know what other machines sent.",
  flags: { ...flags.quota, "--all": "show each account (service and key) in the history" },
  output:
    "how much of the hourly limit and of your `per-day` limit is used, and what was spent. With --all, a line for each account: profile TAB hour TAB 24 h TAB 7 d TAB 30 d TAB origin. With --json, one object; with --all and --json, an array (research help json)",
  exits: { 4: "no key" },
  examples: ["research quota --tier free", "research quota --json | jq .left"],
  run: async () => (await import("./run.js")).runQuota,
});
