import { SHELLS } from "../../completion/scripts.js";
import { define } from "../definition.js";

export const completion = define({
  name: "completion",
  summary: "print or install the completion of a shell",
  description:
    "Print a script that completes commands, flags, files, profiles, settings and ids when Tab is pressed. " +
    "--install writes it where the shell looks for it. No start-up file is changed.",
  arguments: [["<shell>", "the shell", SHELLS]],
  flags: {
    "--install": "write the script to its file",
    "--force": "overwrite a file that this command did not write",
  },
  output:
    "the script; with --install the line to add, if there is one; --json: {shell, path, line} or {shell, script}",
  exits: { 0: "done", 2: "no shell is named", 12: "not written, or somebody else's file is there" },
  examples: ["research completion bash --install", "source <(research completion zsh)"],
  run: async () => (await import("./run.js")).runCompletion,
});
