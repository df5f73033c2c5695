import { define } from "../definition.js";

export const skill = define({
  name: "skill",
  summary: "install the skill for coding agents",
  description: "A short file that tells a coding agent to ask this program how it is used.",
  examples: ["research skill install"],
  commands: [
    define({
      name: "install",
      description: "write the skill",
      flags: {
        "--dir <dir>":
          "the folder of skills (default: .agents/skills, or .claude/skills where only .claude is there)",
        "--force": "overwrite an existing file",
      },
      output: "the file's path; --json: {path}",
      exits: { 0: "written", 12: "not written, or the file exists (without --force)" },
      examples: ["research skill install --dir ~/.agents/skills"],
      run: async () => (await import("./run.js")).installSkill,
    }),
  ],
});
