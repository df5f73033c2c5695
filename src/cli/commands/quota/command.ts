import { define } from "../definition.js";
import { flags } from "../flags.js";

export const quota = define({
  name: "quota",
  summary: "show how much of the hourly limit is left",
  description:
    "Show how many creates of the last hour count for the origin and key in use, and when the next one is " +
    "allowed. Nothing is sent: the history of this machine is counted, including unknown outcomes, but not " +
    "what other machines sent.",
  flags: { ...flags.quota, "--all": "show each origin and key in the history" },
  output:
    "the hour, the day under per-day, and what was spent; with --all a line for each account: profile TAB hour TAB 24 h TAB 7 d TAB 30 d TAB origin; --json: used, left, limit, next_slot_at, origin, profile, counted_from, day, spent; an array with --all",
  exits: { 0: "printed", 4: "no key", 12: "the history cannot be read" },
  examples: ["research quota --tier free", "research quota --json | jq .left"],
  run: async () => (await import("./run.js")).runQuota,
});
