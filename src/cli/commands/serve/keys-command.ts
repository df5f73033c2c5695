import type { Perform, Verb } from "../definition.js";
import { positiveDuration, wholeNumber } from "../flags.js";
import { tierFlag } from "./flags.js";

/** Adds `serve keys add|list|revoke`. Their flags may also stand before `keys`, where `serve` reads them. */
export function defineKeys(serve: Verb, perform: Perform): void {
  const load = () => import("./keys.js");
  // Else `serve`, which has flags of the same names, would take those of the commands below it.
  serve.enablePositionalOptions();
  const keys = serve
    .command("keys")
    .summary("add, list and revoke keys, also while the service runs")
    .description("Keys of a service for a team, each with its own limits, conversations and hour.")
    .document({
      examples: [
        "research serve keys add alice --data ./service",
        "research serve keys add ci --tier enterprise --creates-per-hour 500 --stops-per-hour 1000 --data ./service",
        "research serve keys revoke alice --data ./service",
      ],
    });
  store(keys.command("add"))
    .description("add a key and print it, this once; only its hash is stored")
    .argument("<name>", "1 to 64 letters, digits, dots, underscores and hyphens")
    .addOption(tierFlag("the hourly limits (default: free)"))
    .option("--creates-per-hour <n>", "for enterprise, which has no limits of its own", wholeNumber(0))
    .option("--stops-per-hour <n>", "likewise", wholeNumber(0))
    .option(
      "--expires <duration>",
      "how long the key is valid (default: until it is revoked)",
      positiveDuration,
    )
    .document({
      output: "the key, once; --json: {name, tier, api_key, …}",
      exits: { 0: "added", 2: "bad input", 12: "the folder or database cannot be used" },
      examples: ["research serve keys add alice --data ./service"],
    })
    .action((name, options) =>
      perform(async (ctx) => (await load()).addKey(ctx, name, { ...given(serve), ...options })),
    );
  store(keys.command("list"))
    .description("print all keys, but not the keys themselves")
    .document({
      output: "a key a line; --json: an array",
      exits: { 0: "listed", 2: "bad input", 12: "the folder or database cannot be used" },
      examples: ["research serve keys list --data ./service"],
    })
    .action((options) =>
      perform(async (ctx) => (await load()).listKeys(ctx, { ...given(serve), ...options })),
    );
  store(keys.command("revoke"))
    .description("make a key invalid; its conversations go on")
    .argument("<name>", "the name of a key")
    .document({
      exits: { 0: "revoked", 2: "bad input, or no such key", 12: "the folder or database cannot be used" },
      examples: ["research serve keys revoke alice --data ./service"],
    })
    .action((name, options) =>
      perform(async (ctx) => (await load()).revokeKey(ctx, name, { ...given(serve), ...options })),
    );
}

function store(command: Verb): Verb {
  return command
    .option("--data <dir>", "the data folder of the service")
    .option("--database <url>", "the database of the service (or RESEARCH_SERVE_DATABASE)");
}

/** The flags of `serve` that were given, without those that have a default. */
function given(serve: Verb): Record<string, unknown> {
  const names = Object.keys(serve.opts()).filter((name) => serve.getOptionValueSource(name) === "cli");
  return Object.fromEntries(names.map((name) => [name, serve.opts()[name]]));
}
