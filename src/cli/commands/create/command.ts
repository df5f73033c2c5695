import {
  define,
  dryRunFlag,
  providerFlags,
  quotaFlags,
  requestFlags,
  usual,
  waitForQuotaFlag,
  watchFlags,
} from "../definition.js";

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
  exits: { 0: "created", 12: "not recorded", ...usual(2, 4, 6, 7, 9, 11) },
  examples: [
    'research create "How do tides form?"',
    'id=$(research create "How do tides form?")',
    "research create --schema schema.json < question.txt",
  ],
  run: async () => (await import("./run.js")).create,
});

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
  exits: { 0: "created", 5: "not in the history", 12: "not recorded", ...usual(2, 4, 6, 7, 9, 11) },
  examples: ["research rerun @last --watch"],
  run: async () => (await import("./run.js")).rerun,
});
