import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import skillText from "../../../../skills/research/SKILL.md?raw";
import { writeTarget } from "../../../app/output-file.js";
import { makeSharedFolder } from "../../../core/files/files.js";
import { runLocally } from "../../../core/files/local-error.js";
import type { Context } from "../../context.js";

/** Writes the skill into `dir`, a folder of skills. Throws LocalError if that fails, or if the file exists and `force` is not set. */
export async function installSkill(
  ctx: Context,
  { dir = locateSkills(), force = false }: { dir?: string; force?: boolean },
): Promise<void> {
  const path = join(dir, "research", "SKILL.md");
  runLocally(`could not write ${path}`, () => makeSharedFolder(dirname(path)));
  writeTarget(path, skillText, force);
  await ctx.reporter.show({ path }, `${path}\n`);
}

/** Returns the folder in which agents look for skills, below the current folder. Claude Code has its own. */
function locateSkills(): string {
  return existsSync(".claude") && !existsSync(".agents") ? ".claude/skills" : ".agents/skills";
}
