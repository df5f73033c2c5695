import { defineCommand } from "../define-command.js";

const load = () => import("./run.js");

export const config = defineCommand({
  name: "config",
  summary: "read and change settings",
  description: "Read and change the settings of each profile. A key is never printed in full.",
  examples: [
    "research config list",
    "research config set base-url https://research.example.com",
    "research config use work",
  ],
  commands: [
    defineCommand({
      name: "get",
      description: "print the value of a setting",
      arguments: [["<setting>", "the name of a setting"]],
      output: "the value in use; with --json, an object with value and source",
      exits: { 5: "the setting has no value" },
      examples: ["research config get base-url"],
      run: async () => (await load()).runConfigGet,
    }),
    defineCommand({
      name: "set",
      description:
        "store a value. For api-key, leave the value out: the command asks for it, or reads it from stdin",
      arguments: [
        ["<setting>", "the name of a setting"],
        ["[value]", "its value"],
      ],
      examples: ["research config set tier free"],
      run: async () => (await load()).runConfigSet,
    }),
    defineCommand({
      name: "unset",
      description: "remove a value",
      arguments: [["<setting>", "the name of a setting"]],
      examples: ["research config unset tier"],
      run: async () => (await load()).runConfigUnset,
    }),
    defineCommand({
      name: "list",
      description: "list every setting and where its value comes from, and the stored accounts",
      output:
        "a line for each setting: name TAB value TAB source; then a line for each account: name TAB address TAB profile; with --json, one object",
      examples: ["research config list --json"],
      run: async () => (await load()).runConfigList,
    }),
    defineCommand({
      name: "use",
      description: "switch to a profile",
      arguments: [["<profile>", "the name of a profile"]],
      examples: ["research config use work"],
      run: async () => (await load()).runConfigUse,
    }),
    defineCommand({
      name: "path",
      description: "print the path of the settings file",
      output: "the path; with --json, {path}",
      examples: ["research config path"],
      run: async () => (await load()).runConfigPath,
    }),
  ],
});
