import type { Define } from "../definition.js";

export const config: Define = (program, perform) => {
  const load = () => import("./run.js");
  const command = program
    .command("config")
    .summary("read and change settings")
    .description("Settings, kept by profile. A key is never shown whole.")
    .document({
      examples: [
        "research config list",
        "research config set base-url https://research.example.com",
        "research config use work",
      ],
    });
  command
    .command("get")
    .description("print the value in force")
    .argument("<key>", "the name of a setting")
    .document({
      output: "the value; --json: an object with value and source",
      exits: { 0: "printed", 2: "no such setting", 5: "it is not set", 12: "the settings cannot be read" },
      examples: ["research config get base-url"],
    })
    .action((key) => perform(async (ctx) => (await load()).configGet(ctx, key)));
  command
    .command("set")
    .description("store a value; api-key without one is asked for, or read from stdin")
    .argument("<key>", "the name of a setting")
    .argument("[value]", "its value")
    .document({
      exits: { 0: "stored", 2: "bad input", 12: "the settings cannot be written" },
      examples: ["research config set tier free"],
    })
    .action((key, value) => perform(async (ctx) => (await load()).configSet(ctx, key, value)));
  command
    .command("unset")
    .description("take a value out")
    .argument("<key>", "the name of a setting")
    .document({
      exits: { 0: "done", 2: "no such setting", 12: "the settings cannot be written" },
      examples: ["research config unset tier"],
    })
    .action((key) => perform(async (ctx) => (await load()).configUnset(ctx, key)));
  command
    .command("list")
    .description("print every setting in force and where it comes from")
    .document({
      output: "setting TAB value TAB source; --json: one object",
      exits: { 0: "printed", 12: "the settings cannot be read" },
      examples: ["research config list --json"],
    })
    .action(() => perform(async (ctx) => (await load()).configList(ctx)));
  command
    .command("use")
    .description("make a profile the one in use")
    .argument("<profile>", "the name of a profile")
    .document({
      exits: { 0: "done", 2: "no such profile", 12: "the settings cannot be written" },
      examples: ["research config use work"],
    })
    .action((name) => perform(async (ctx) => (await load()).configUse(ctx, name)));
  command
    .command("path")
    .description("print where the settings are kept")
    .document({
      output: "the path; --json: {path}",
      exits: { 0: "printed", 12: "there is no folder for settings" },
      examples: ["research config path"],
    })
    .action(() => perform(async (ctx) => (await load()).configPath(ctx)));
};
