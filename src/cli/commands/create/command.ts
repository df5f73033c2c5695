import { define, listUsualExits } from "../definition.js";
import { flags } from "../flags.js";

const WAITING = { "-w, --watch": "then wait as `watch` does", ...flags.pace } as const;
const LIMITS = { ...flags.quota, ...flags.perDay, ...flags.waitForQuota } as const;

export const create = define({
  name: "create",
  summary: "submit a research question",
  description: "Submit a research question. The id is printed as soon as it is known and recorded on disk.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.once, ...flags.dryRun },
    "Account:": { ...flags.provider, ...flags.or },
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "the request id on a line; --json: the service's data on one line",
  exits: {
    0: "created",
    12: "the request could not be recorded",
    ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11),
  },
  examples: [
    'research create "How do tides form?"',
    'id=$(research create "How do tides form?")',
    'research create "How do tides form?" -p openai --or exa --once',
    "research create --schema schema.json < question.txt",
  ],
  run: async () => (await import("./run.js")).create,
});

export const rerun = define({
  name: "rerun",
  summary: "submit a question again",
  description: "Create a new request with the prompt, context and schema of an earlier one.",
  arguments: [["<id>", "an id, a local id, a unique prefix of either, or @last"]],
  flags: {
    "Question:": { ...flags.context, ...flags.dryRun },
    "Account:": flags.provider,
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "as for create",
  exits: {
    ...{ 0: "created", 12: "the request could not be recorded", ...listUsualExits(3, 4, 6, 7, 8, 9, 10, 11) },
    5: "not in the history, or not found",
  },
  examples: ["research rerun @last --watch"],
  run: async () => (await import("./run.js")).rerun,
});
