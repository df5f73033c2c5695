import type { Define } from "../definition.js";

export const skill: Define = (program, perform) => {
  const load = () => import("./run.js");
  const command = program
    .command("skill")
    .summary("install the skill for coding agents")
    .description("A short file that tells a coding agent to ask this program how it is used.")
    .document({ examples: ["research skill install", "research skill status"] });
  command
    .command("install")
    .description("write the skill")
    .option(
      "--dir <folder>",
      "the folder of skills (default: .agents/skills, or .claude/skills where only .claude is there)",
    )
    .option("--force", "overwrite a copy that was edited")
    .document({
      output: "path TAB current; --json: {path, state}",
      exits: { 0: "written", 12: "not written, or the copy was edited" },
      examples: ["research skill install --dir ~/.agents/skills"],
    })
    .action((options) => perform(async (ctx) => (await load()).skillInstall(ctx, options)));
  command
    .command("status")
    .description("say whether the skill is installed, and of this version")
    .option(
      "--dir <folder>",
      "the folder of skills (default: .agents/skills, or .claude/skills where only .claude is there)",
    )
    .document({
      output: "path TAB missing, current, stale (another version's) or changed; --json: {path, state}",
      exits: { 0: "printed", 12: "the file cannot be read" },
      examples: ["research skill status"],
    })
    .action((options) => perform(async (ctx) => (await load()).skillStatus(ctx, options)));
};
