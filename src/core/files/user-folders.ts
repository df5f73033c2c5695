import { isAbsolute, join } from "node:path";
import type { Environment } from "./local-error.js";

/** Absolute paths; undefined if the environment determines none (no usable home folder). */
export interface UserFolders {
  config: string | undefined;
  state: string | undefined;
}

/** Thrown by `chooseUserFolders` if a variable that must have an absolute path has a relative one. */
export class FolderError extends Error {}

/**
 * Returns the folders of settings and history: `RESEARCH_CONFIG_DIR` and `RESEARCH_STATE_DIR`, else those of the platform.
 * Ignores relative XDG paths, as the XDG Base Directory specification requires, and a relative home.
 * Throws FolderError for a relative `RESEARCH_*_DIR`: ignoring it would put files in an unexpected place.
 */
export function chooseUserFolders({ env, platform }: { env: Environment; platform: string }): UserFolders {
  const home = ignoreRelativePath(env.HOME);
  const locateOnMac = (folder: string) => joinPathIfBaseKnown(home, "Library", folder, "research");
  const locateByXdg = (variable: string, ...parts: string[]) =>
    joinPathIfBaseKnown(ignoreRelativePath(env[variable]) ?? joinPathIfBaseKnown(home, ...parts), "research");
  const systemFolders: UserFolders =
    platform === "darwin"
      ? { config: locateOnMac("Preferences"), state: locateOnMac("Application Support") }
      : {
          config: locateByXdg("XDG_CONFIG_HOME", ".config"),
          state: locateByXdg("XDG_STATE_HOME", ".local", "state"),
        };
  return {
    config: readFolderVariable(env, "RESEARCH_CONFIG_DIR") ?? systemFolders.config,
    state: readFolderVariable(env, "RESEARCH_STATE_DIR") ?? systemFolders.state,
  };
}

/** Joins a path below a folder; undefined if the folder is unknown. */
export function joinPathIfBaseKnown(base: string | undefined, ...parts: string[]): string | undefined {
  return base ? join(base, ...parts) : undefined;
}

/** Returns an absolute path unchanged; undefined for a relative or missing one. */
export function ignoreRelativePath(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

function readFolderVariable(env: Environment, name: string): string | undefined {
  const path = env[name];
  if (!path) return undefined;
  if (!isAbsolute(path))
    throw new FolderError(`${name} must be an absolute path, and ${JSON.stringify(path)} is not`);
  return path;
}
