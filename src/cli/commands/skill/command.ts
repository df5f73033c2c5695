import { define } from "../definition.js";

export const skill = define({
  name: "skill",
  summary: "install the skill for coding agents",
  description: "Install a short file that tells a coding agent how to get help from this program.",
  examples: ["research skill install"],
  commands: [
    define({
      name: "install",
      description: "write the skill to its folder",
      flags: {
        "--dir <dir>":
          "the folder of skills (default: .agents/skills, or .claude/skills if only .claude exists)",
        "--force": "overwrite an existing file",
      },
      output: "the path of the file; with --json, {path}",
      exits: { 0: "written", 12: "not written, or the file exists (without --force)" },
      examples: ["research skill install --dir ~/.agents/skills"],
      run: async () => (await import("./run.js")).installSkill,
    }),
  ],
});
