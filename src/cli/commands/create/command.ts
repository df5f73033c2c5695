import { define, listUsualExits } from "../definition.js";
import { flags } from "../flags.js";

const WAITING = { "-w, --watch": "then go on as `watch`", ...flags.pace } as const;
const LIMITS = { ...flags.quota, ...flags.perDay, ...flags.waitForQuota } as const;

export const create = define({
  name: "create",
  summary: "submit a research question",
  description: "Submit a research question. The id is printed the moment it is known and safe on disk.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.once, ...flags.dryRun },
    "Account:": { ...flags.provider, ...flags.or },
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "the request id on a line; --json: the service's data on one line",
  exits: { 0: "created", 12: "not recorded", ...listUsualExits(3, 4, 5, 6, 7, 8, 9, 10, 11) },
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
  summary: "submit an old question again",
  description: "Make a new request with the prompt, the context and the schema of an old one.",
  arguments: [["<id>", "an id, a local id, a unique prefix of one, or @last"]],
  flags: {
    "Question:": { ...flags.context, ...flags.dryRun },
    "Account:": flags.provider,
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "as create",
  exits: {
    ...{ 0: "created", 12: "not recorded", ...listUsualExits(3, 4, 6, 7, 8, 9, 10, 11) },
    5: "not in the history, or not found",
  },
  examples: ["research rerun @last --watch"],
  run: async () => (await import("./run.js")).rerun,
});
