import { define } from "../definition.js";
import { positiveDuration, tierFlag, value, wholeNumber } from "../flags.js";

const load = () => import("./keys.js");

const storeFlags = {
  "--data <dir>": "the data folder of the service",
  "--database <url>": "the database of the service (or RESEARCH_SERVE_DATABASE)",
} as const;

/** `serve keys add|list|revoke`. */
export const keys = define({
  name: "keys",
  summary: "add, list and revoke keys, also while the service runs",
  description: "Keys of a service for a team, each with its own limits, conversations and hour.",
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
      flags: {
        ...storeFlags,
        "--tier <tier>": tierFlag("the hourly limits (default: free)"),
        "--creates-per-hour <n>": value("for enterprise, which has no limits of its own", wholeNumber(0)),
        "--stops-per-hour <n>": value("likewise", wholeNumber(0)),
        "--expires <duration>": value(
          "how long the key is valid (default: until it is revoked)",
          positiveDuration,
        ),
      },
      output: "the key, once; --json: {name, tier, api_key, …}",
      exits: { 0: "added", 2: "bad input", 12: "the folder or database cannot be used" },
      examples: ["research serve keys add alice --data ./service"],
      run: async () => (await load()).addKey,
    }),
    define({
      name: "list",
      description: "print all keys, but not the keys themselves",
      flags: storeFlags,
      output: "a key a line; --json: an array",
      exits: { 0: "listed", 2: "bad input", 12: "the folder or database cannot be used" },
      examples: ["research serve keys list --data ./service"],
      run: async () => (await load()).listKeys,
    }),
    define({
      name: "revoke",
      description: "make a key invalid; its conversations go on",
      arguments: [["<name>", "the name of a key"]],
      flags: storeFlags,
      exits: { 0: "revoked", 2: "bad input, or no such key", 12: "the folder or database cannot be used" },
      examples: ["research serve keys revoke alice --data ./service"],
      run: async () => (await load()).revokeKey,
    }),
  ],
});
