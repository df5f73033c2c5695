import { SHELLS } from "../../completion/scripts.js";
import { defineCommand } from "../define-command.js";

export const completion = defineCommand({
  name: "completion",
  summary: "print or install shell completion",
  description:
    "Print a script that completes commands, flags, files, profiles, settings and ids when you press Tab. " +
    "--install writes the script where the shell looks for it. No start-up file is changed.",
  arguments: [["<shell>", "the shell to complete in", SHELLS]],
  flags: {
    "--install": "write the script to the file in which the shell looks for it",
    "--force": "overwrite a file that this command did not write",
  },
  output:
    "the script; with --install the line to add to your start-up file, if one is needed; with --json, {shell, path, line} or {shell, script}",
  exits: { 0: "done", 2: "no shell, or an unknown one", 12: "not written, or another program's file exists" },
  examples: ["research completion bash --install", "source <(research completion zsh)"],
  run: async () => (await import("./run.js")).runCompletion,
});
