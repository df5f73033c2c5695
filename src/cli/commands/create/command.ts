import { define } from "../definition.js";
import {
  dryRunFlag,
  providerFlags,
  quotaFlags,
  requestFlags,
  waitForQuotaFlag,
  watchFlags,
} from "../flags.js";

export const create = define({
  name: "create",
  summary: "submit a research question",
  description: "Submit a research question. The id is printed the moment it is known and safe on disk.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "-w, --watch": "then go on as `watch`",
    ...dryRunFlag,
    ...requestFlags,
    ...watchFlags,
    ...providerFlags,
    ...quotaFlags,
    ...waitForQuotaFlag,
  },
  output: "the request id on a line; --json: the service's data on one line",
  exits: {
    0: "created",
    2: "bad input",
    4: "key",
    6: "refused",
    7: "rate limited",
    9: "unreachable",
    11: "outcome unknown",
    12: "not recorded",
  },
  examples: [
    'research create "How do tides form?"',
    'id=$(research create "How do tides form?")',
    "research create --schema schema.json < question.txt",
  ],
  run: async () => (await import("./run.js")).create,
});
