import { dirname } from "node:path";
import { CodedError } from "../../../machine/errors.js";
import { inWords, LocalError } from "../../../store/errors.js";
import { makeSharedFolder, replaceFile } from "../../../store/files.js";
import type { Context } from "../../context.js";
import { installedText, type SkillState, skillPath, skillState, skillsFolder } from "./installed-skill.js";

export interface SkillOptions {
  /** The folder of skills. */
  dir?: string;
  force?: boolean;
}

/** Writes the skill. Throws CodedError `LOCAL_IO` for a copy that was edited, LocalError if it cannot be written. */
export async function skillInstall(
  ctx: Context,
  { dir = skillsFolder(), force }: SkillOptions,
): Promise<number> {
  const path = skillPath(dir);
  try {
    if (skillState(dir) === "changed" && !force)
      throw new CodedError("LOCAL_IO", `${path} is not as \`research skill install\` wrote it`, {
        hint: "--force overwrites it.",
      });
    makeSharedFolder(dirname(path));
    replaceFile(path, installedText());
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new LocalError(`could not write ${path}: ${inWords(error)}`, { cause: error });
  }
  await show(ctx, path, "current");
  return 0;
}

/** Says whether the copy is there, and of this version. */
export async function skillStatus(
  ctx: Context,
  { dir = skillsFolder() }: Pick<SkillOptions, "dir">,
): Promise<number> {
  const path = skillPath(dir);
  try {
    await show(ctx, path, skillState(dir));
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new LocalError(`could not read ${path}: ${inWords(error)}`, { cause: error });
  }
  return 0;
}

async function show({ reporter }: Context, path: string, state: SkillState): Promise<void> {
  if (reporter.json) await reporter.resultJson({ path, state });
  else await reporter.result(`${path}\t${state}\n`);
}
