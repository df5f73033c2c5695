import { dirname } from "node:path";
import { CodedError } from "../../../app/errors.js";
import { makeSharedFolder, readIfExists, replaceFile } from "../../../core/files/file-access.js";
import { LocalError, wrapFileErrors } from "../../../core/files/local-error.js";
import type { Context } from "../../command-context.js";
import { locateScript, MARKER, SCRIPTS, type ScriptPlace, type Shell } from "../../completion/scripts.js";

/** Prints the completion script of a shell, or writes it to where the shell looks for it. */
export async function runCompletion(
  ctx: Context,
  shell: Shell,
  options: { install?: boolean; force?: boolean },
): Promise<void> {
  const { reporter } = ctx;
  const script = SCRIPTS[shell];
  if (!options.install) {
    await reporter.show({ shell, script }, script);
    return;
  }
  const place = locateScript(shell, ctx.host.env);
  if (!place) throw new LocalError("no folder for the script: set HOME to an absolute path");
  installScript(place, script, options.force ?? false);
  const { path, line } = place;
  await reporter.say(`wrote the script to ${path}; new shells use it`);
  if (line !== undefined) await reporter.say("add this line to ~/.zshrc:");
  await reporter.show({ shell, path, line: line ?? null }, line === undefined ? "" : `${line}\n`);
}

/** Writes a script. Throws CodedError `LOCAL_IO` for a file that this program did not write, LocalError if writing fails. */
function installScript({ path }: ScriptPlace, script: string, force: boolean): void {
  const failed = `could not write ${path}`;
  const before = wrapFileErrors(failed, () => readIfExists(path));
  if (before !== undefined && !before.includes(MARKER) && !force)
    throw new CodedError("LOCAL_IO", `${path} was not written by \`research completion\``, {
      hint: "--force overwrites it.",
    });
  wrapFileErrors(failed, () => {
    makeSharedFolder(dirname(path));
    replaceFile(path, script);
  });
}
