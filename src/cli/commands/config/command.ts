import { type Define, help } from "../definition.js";

export const config: Define = (program, perform) => {
  const load = () => import("./run.js");
  const command = program
    .command("config")
    .summary("read and change settings")
    .description("Settings, kept by profile. A key is never shown whole.")
    .addHelpText(
      "after",
      help({
        examples: [
          "research config list",
          "research config set base-url https://research.example.com",
          "research config use work",
        ],
      }),
    );
  command
    .command("get")
    .description("print the value in force")
    .argument("<key>")
    .action((key) => perform(async (ctx) => (await load()).configGet(ctx, key)));
  command
    .command("set")
    .description("store a value; api-key without one is asked for, or read from stdin")
    .argument("<key>")
    .argument("[value]")
    .action((key, value) => perform(async (ctx) => (await load()).configSet(ctx, key, value)));
  command
    .command("unset")
    .description("take a value out")
    .argument("<key>")
    .action((key) => perform(async (ctx) => (await load()).configUnset(ctx, key)));
  command
    .command("list")
    .description("print every setting in force and where it comes from")
    .action(() => perform(async (ctx) => (await load()).configList(ctx)));
  command
    .command("use")
    .description("make a profile the one in use")
    .argument("<profile>")
    .action((name) => perform(async (ctx) => (await load()).configUse(ctx, name)));
  command
    .command("path")
    .description("print where the settings are kept")
    .action(() => perform(async (ctx) => (await load()).configPath(ctx)));
};
