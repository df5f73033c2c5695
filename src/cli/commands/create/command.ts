import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { flags } from "../shared-flags.js";

export const WAITING = {
  "-w, --watch": "after the create request, wait as `watch` does",
  ...flags.pace,
} as const;
/** Exit codes of a create call, and of the wait after it. */
export const EXITS = {
  ...listUsualExitCodes(4, 5, 6, 7, 11),
  3: "with -w: the research FAILED",
  8: "with -w: not finished yet",
  9: "the service could not be reached, or a proxy refused the request; nothing was created",
  10: "with -w: the research was STOPPED",
} as const;
export const LIMITS = { ...flags.quota, ...flags.perDay, ...flags.waitForQuota } as const;

export const create = defineCommand({
  name: "create",
  summary: "submit a research question",
  description:
    "Submit a research question. The command prints the id of the request as soon as the id is recorded on disk.",
  arguments: [["[prompt]", "the question; if it is - or missing, it is read from stdin"]],
  flags: {
    "Question:": { ...flags.request, ...flags.context, ...flags.domains, ...flags.once, ...flags.dryRun },
    "Account:": { ...flags.provider, ...flags.or },
    "Waiting:": WAITING,
    "Limits:": LIMITS,
  },
  output: "the request id; with --json, the service's `data` on one line",
  exits: EXITS,
  examples: [
    'research create "How do tides form?"',
    'id=$(research create "How do tides form?")',
    'research create "How do tides form?" -p openai --or exa --once',
    "research create --schema schema.json < question.txt",
  ],
  run: async () => (await import("./run.js")).create,
});
