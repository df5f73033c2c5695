import { defineCommand } from "../define-command.js";
import { keyFlags, serveFlags, setFlags, spentFlags, storeFlags, tryFlags } from "./flags.js";

const load = () => import("./manage-keys.js");

const keys = defineCommand({
  name: "keys",
  summary: "manage the keys of the service and show their spending, also while the service runs",
  description:
    "Manage the keys of a service for a team. Each key has its own limits, budgets and conversations.",
  examples: [
    "research serve keys add alice --data ./service",
    "research serve keys add ci --tier enterprise --creates-per-hour 500 --stops-per-hour 1000 --data ./service",
    "research serve keys revoke alice --data ./service",
  ],
  commands: [
    defineCommand({
      name: "add",
      description: "add a key, and print the key once; only its hash is stored",
      arguments: [["<name>", "1 to 64 letters, digits, dots, underscores and hyphens"]],
      flags: keyFlags,
      output: "the key, once; with --json, {name, tier, api_key, …}",
      examples: ["research serve keys add alice --data ./service"],
      run: async () => (await load()).addKey,
    }),
    defineCommand({
      name: "set",
      description: "change the budgets of a key",
      arguments: [["<name>", "the name of a key"]],
      flags: setFlags,
      output: "nothing; with --json, {name, budget, at_once, dollars, …}",
      exits: { 6: "there is no valid key of that name" },
      examples: [
        "research serve keys set alice --budget 200/30d --dollars 50/30d --at-once 5 --data ./service",
        "research serve keys set alice --budget none --data ./service",
      ],
      run: async () => (await load()).setKeyBudgets,
    }),
    defineCommand({
      name: "spent",
      description: "show the cost of ended conversations, including deleted ones",
      flags: spentFlags,
      output:
        "a line for each key, day or model: its name, how many conversations COMPLETED, FAILED and were STOPPED, dollars, input tokens, output tokens, and how many conversations did not report a cost; with --json, an array",
      examples: ["research serve keys spent --since 30d --by model --data ./service"],
      run: async () => (await load()).printSpending,
    }),
    defineCommand({
      name: "list",
      description: "list the keys by name, without their secrets",
      flags: storeFlags,
      output: "one key per line; with --json, an array",
      examples: ["research serve keys list --data ./service"],
      run: async () => (await load()).listKeys,
    }),
    defineCommand({
      name: "revoke",
      description: "revoke a key; its running conversations continue",
      arguments: [["<name>", "the name of a key"]],
      flags: storeFlags,
      exits: { 6: "there is no valid key of that name" },
      examples: ["research serve keys revoke alice --data ./service"],
      run: async () => (await load()).revokeKey,
    }),
  ],
});

const MODEL_EXAMPLE = "--model llama3.2 --model-url http://127.0.0.1:11434/v1";

export const serve = defineCommand({
  name: "serve",
  summary: "run the local service",
  description:
    "Run a research service on this machine. It has an HTTP interface, request states and hourly limits, like a hosted service.",
  flags: serveFlags,
  output:
    "the base URL when the service is ready; with --json, {base_url, pid, api_key}; nothing with --exec",
  exits: { 0: "stopped by SIGINT or SIGTERM", 12: "the port, folder or database cannot be used" },
  examples: [
    "research serve --sources docs",
    "research serve --answers sample",
    "research serve --tier free --pending 2s --processing 5s",
    "research serve --database postgresql://research@db/research --role worker",
    `research serve --sources docs ${MODEL_EXAMPLE}`,
    "research serve --exec 'research run \"How do tides form?\"'",
  ],
  run: async () => (await import("./run.js")).serve,
  commands: [keys],
});

export const tryOut = defineCommand({
  name: "try",
  summary: "find what the files of a folder say about a question; needs no account or key",
  description:
    "Start the local service for one question and stop it afterwards. Nothing is stored. Without a model, the result consists of the passages that match best.",
  arguments: [["[prompt]", "the question; if it is - or missing, it is read from stdin"]],
  flags: tryFlags,
  output:
    "the best passages, or a model's report, with file:line citations; with --json, one line of JSON as `output --json` prints it",
  exits: {
    0: "done, even if nothing was found",
    3: "FAILED: you passed a schema without --model or --answers, or the sources do not contain the values that it requires",
  },
  examples: [
    'research try "What happens when the hourly limit is exceeded?"',
    `research try --sources docs ${MODEL_EXAMPLE} "Who may stop a request?"`,
  ],
  run: async () => (await import("./try.js")).tryOut,
});
