import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import skillText from "../../../../skills/research/SKILL.md?raw";
import { CodedError } from "../../../machine/errors.js";
import { makeSharedFolder, orLocalError, readIfThere, replaceFile } from "../../../store/files.js";
import type { Context } from "../../context.js";

/** Writes the skill below `dir`, a folder of skills. Throws CodedError `LOCAL_IO` for a copy that was edited, LocalError if it cannot be written. */
export async function skillInstall(
  ctx: Context,
  { dir = skillsFolder(), force }: { dir?: string; force?: boolean },
): Promise<number> {
  const path = skillPath(dir);
  const failed = `could not write ${path}`;
  if (orLocalError(failed, () => skillState(dir)) === "changed" && !force)
    throw new CodedError("LOCAL_IO", `${path} is not as \`research skill install\` wrote it`, {
      hint: "--force overwrites it.",
    });
  orLocalError(failed, () => {
    makeSharedFolder(dirname(path));
    replaceFile(path, installedText());
  });
  await ctx.reporter.show({ path, state: "current" }, `${path}\tcurrent\n`);
  return 0;
}

/** Says whether the copy is there, and of this version. */
export async function skillStatus(ctx: Context, { dir = skillsFolder() }: { dir?: string }): Promise<number> {
  const path = skillPath(dir);
  const state = orLocalError(`could not read ${path}`, () => skillState(dir));
  await ctx.reporter.show({ path, state }, `${path}\t${state}\n`);
  return 0;
}

/** Where agents look for skills, below the current folder: Claude Code has a folder of its own. */
export function skillsFolder(): string {
  return existsSync(".claude") && !existsSync(".agents") ? ".claude/skills" : ".agents/skills";
}

/** `stale`: of another version of the program. `changed`: edited after it was installed. */
export type SkillState = "missing" | "current" | "stale" | "changed";

const MARK = /\n<!-- research skill, sha256 ([0-9a-f]{64}) -->\n$/;

/** The file of the skill below a folder of skills. */
export function skillPath(folder: string): string {
  return join(folder, "research", "SKILL.md");
}

/** The text that is installed: the skill, and a last line with its hash by which a copy is recognised. */
export function installedText(text = skillText): string {
  return `${text}\n<!-- research skill, sha256 ${hashOf(text)} -->\n`;
}

/** The state of an installed copy; `text` is its content, undefined if the file does not exist. */
export function stateOf(text: string | undefined): SkillState {
  if (text === undefined) return "missing";
  if (text === installedText()) return "current";
  const hash = MARK.exec(text)?.[1];
  return hash !== undefined && hash === hashOf(text.replace(MARK, "")) ? "stale" : "changed";
}

/** The same of the copy in a folder of skills. Throws the system's error if the file cannot be read. */
export function skillState(folder: string): SkillState {
  return stateOf(readIfThere(skillPath(folder)));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
