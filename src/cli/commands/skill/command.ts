import { define } from "../definition.js";

const load = () => import("./run.js");

const dirFlag = {
  "--dir <folder>":
    "the folder of skills (default: .agents/skills, or .claude/skills where only .claude is there)",
} as const;

export const skill = define({
  name: "skill",
  summary: "install the skill for coding agents",
  description: "A short file that tells a coding agent to ask this program how it is used.",
  examples: ["research skill install", "research skill status"],
  commands: [
    define({
      name: "install",
      description: "write the skill",
      flags: {
        ...dirFlag,
        "--force": "overwrite a copy that was edited",
      },
      output: "path TAB current; --json: {path, state}",
      exits: { 0: "written", 12: "not written, or the copy was edited" },
      examples: ["research skill install --dir ~/.agents/skills"],
      run: async () => (await load()).skillInstall,
    }),
    define({
      name: "status",
      description: "say whether the skill is installed, and of this version",
      flags: dirFlag,
      output: "path TAB missing, current, stale (another version's) or changed; --json: {path, state}",
      exits: { 0: "printed", 12: "the file cannot be read" },
      examples: ["research skill status"],
      run: async () => (await load()).skillStatus,
    }),
  ],
});
