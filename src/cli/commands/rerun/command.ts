import { define } from "../definition.js";
import { dryRunFlag, providerFlags, quotaFlags, waitForQuotaFlag, watchFlags } from "../flags.js";

export const rerun = define({
  name: "rerun",
  summary: "submit an old question again",
  description: "Make a new request with the prompt and the schema of an old one.",
  arguments: [["<id>", "an id, a local id, a unique prefix of one, or @last"]],
  flags: {
    ...dryRunFlag,
    "-w, --watch": "then go on as `watch`",
    ...watchFlags,
    ...providerFlags,
    ...quotaFlags,
    ...waitForQuotaFlag,
  },
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
  run: async () => (await import("./run.js")).rerun,
});
