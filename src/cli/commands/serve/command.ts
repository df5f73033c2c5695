import { FAULT_KINDS } from "../../../server/http/faults/fault.js";
import { define, listUsualExits } from "../definition.js";
import { keyFlags, serveFlags, setFlags, spentFlags, storeFlags, tryFlags } from "./flags.js";

const load = () => import("./keys.js");

const keys = define({
  name: "keys",
  summary: "add, change, list and revoke keys, and what they spent, also while the service runs",
  description: "Keys of a service for a team, each with its own limits, budgets and conversations.",
  examples: [
    "research serve keys add alice --data ./service",
    "research serve keys add ci --tier enterprise --creates-per-hour 500 --stops-per-hour 1000 --data ./service",
    "research serve keys revoke alice --data ./service",
  ],
  commands: [
    define({
      name: "add",
      description: "add a key and print it, this once; only its hash is stored",
      arguments: [["<name>", "1 to 64 letters, digits, dots, underscores and hyphens"]],
      flags: keyFlags,
      output: "the key, once; --json: {name, tier, api_key, …}",
      exits: { 0: "added", 12: "the folder or database cannot be used" },
      examples: ["research serve keys add alice --data ./service"],
      run: async () => (await load()).addKey,
    }),
    define({
      name: "set",
      description: "change the budgets of a key in use",
      arguments: [["<name>", "the name of a key"]],
      flags: setFlags,
      output: "--json: {name, budget, at_once, dollars, …}",
      exits: { 0: "changed", 6: "no key in use has the name", 12: "the folder or database cannot be used" },
      examples: [
        "research serve keys set alice --budget 200/30d --dollars 50/30d --at-once 5 --data ./service",
        "research serve keys set alice --budget none --data ./service",
      ],
      run: async () => (await load()).setKey,
    }),
    define({
      name: "spent",
      description: "print what conversations cost that have ended, also of those that were deleted",
      flags: spentFlags,
      output:
        "NAME, COMPLETED, FAILED, STOPPED, dollars, tokens in, tokens out and of how many nothing was said; --json: an array",
      exits: { 0: "printed", 12: "the folder or database cannot be used" },
      examples: ["research serve keys spent --since 30d --by model --data ./service"],
      run: async () => (await load()).runSpent,
    }),
    define({
      name: "list",
      description: "print all keys, but not the keys themselves",
      flags: storeFlags,
      output: "a key a line; --json: an array",
      exits: { 0: "listed", 12: "the folder or database cannot be used" },
      examples: ["research serve keys list --data ./service"],
      run: async () => (await load()).listKeys,
    }),
    define({
      name: "revoke",
      description: "make a key invalid; its conversations go on",
      arguments: [["<name>", "the name of a key"]],
      flags: storeFlags,
      exits: { 0: "revoked", 6: "no key in use has the name", 12: "the folder or database cannot be used" },
      examples: ["research serve keys revoke alice --data ./service"],
      run: async () => (await load()).revokeKey,
    }),
  ],
});

const FAULTS = `
Faults:
  OPERATION is create, status, stop, output or any.
  KIND is an HTTP status (503, 503+retry-after=2) or one of
    ${FAULT_KINDS.join(", ")}.
  HOW is nth=N, first=N or p=PROBABILITY; without it each request is one.
`;
const MODEL_EXAMPLE = "--model llama3.2 --model-url http://127.0.0.1:11434/v1";

export const serve = define({
  name: "serve",
  summary: "run the local service",
  description:
    "Run the research service on this machine: real HTTP, real states, limits and faults on demand.",
  flags: serveFlags,
  notes: FAULTS,
  output: "the base URL once it is ready; --json: {base_url, pid, api_key}; with --exec nothing",
  exits: {
    0: "stopped by SIGINT or SIGTERM",
    12: "the port, folder or database cannot be used",
  },
  examples: [
    "research serve --sources docs",
    "research serve --answers sample",
    "research serve --tier free --fault status:503:first=2",
    "research serve --database postgresql://research@db/research --role worker",
    `research serve --sources docs ${MODEL_EXAMPLE}`,
    "research serve --exec 'research run \"How do tides form?\"'",
  ],
  run: async () => (await import("./run.js")).serve,
  commands: [keys],
});

export const tryOut = define({
  name: "try",
  summary: "find what fits a question in the files of a folder: no account, no key",
  description:
    "Start the local service for this one command and run a question against it. Nothing stays. Without a model the result is the passages that fit best.",
  arguments: [["[prompt]", "the question; - or nothing reads stdin"]],
  flags: tryFlags,
  output: "the best passages, or a model's report, with file:line; --json: the output's data on one line",
  exits: {
    0: "done, also if nothing was found",
    3: "FAILED: a schema without --model or --answers, or one that the sources cannot fill",
    ...listUsualExits(2, 12),
  },
  examples: [
    'research try "What happens when the hourly limit is exceeded?"',
    `research try --sources docs ${MODEL_EXAMPLE} "Who may stop a request?"`,
  ],
  run: async () => (await import("./try.js")).tryOut,
});
