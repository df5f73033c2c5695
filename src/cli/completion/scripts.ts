import { ignoreRelativePath, joinPathIfBaseKnown } from "../../core/files/user-folders.js";
import bash from "./scripts/research.bash?raw";
import fish from "./scripts/research.fish?raw";
import zsh from "./scripts/research.zsh?raw";

export const SCRIPTS = { bash, zsh, fish };

export type Shell = keyof typeof SCRIPTS;

export const SHELLS = ["bash", "zsh", "fish"] as const satisfies readonly Shell[];

/** A line in each script. It marks the file as written by `research completion`, which may overwrite it. */
export const MARKER = "Written by `research completion`; it is replaced when that is run again.";

export interface ScriptPlace {
  path: string;
  /** The line to add to a start-up file; undefined if the shell finds the script itself. */
  line: string | undefined;
}

/**
 * Returns the path for the script of a shell; undefined without a home folder. bash-completion and fish have their own
 * folders (README of bash-completion, "Where should I put it"; fish's `complete`). For zsh it is the data folder of this
 * program, by the XDG Base Directory specification.
 */
export function locateScript(
  shell: Shell,
  env: Readonly<Record<string, string | undefined>>,
): ScriptPlace | undefined {
  const home = ignoreRelativePath(env.HOME);
  const data = ignoreRelativePath(env.XDG_DATA_HOME) ?? joinPathIfBaseKnown(home, ".local", "share");
  const ofBash =
    ignoreRelativePath(env.BASH_COMPLETION_USER_DIR) ?? joinPathIfBaseKnown(data, "bash-completion");
  const ofFish = ignoreRelativePath(env.XDG_CONFIG_HOME) ?? joinPathIfBaseKnown(home, ".config");
  switch (shell) {
    case "bash":
      return buildScriptPlace(joinPathIfBaseKnown(ofBash, "completions", "research"));
    case "fish":
      return buildScriptPlace(joinPathIfBaseKnown(ofFish, "fish", "completions", "research.fish"));
    case "zsh":
      return buildScriptPlace(
        joinPathIfBaseKnown(data, "research", "completion", "research.zsh"),
        (path) => `source '${path.replaceAll("'", "'\\''")}'`,
      );
  }
}

function buildScriptPlace(
  path: string | undefined,
  line?: (path: string) => string,
): ScriptPlace | undefined {
  return path === undefined ? undefined : { path, line: line?.(path) };
}
