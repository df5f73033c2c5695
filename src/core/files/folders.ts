import { isAbsolute, join } from "node:path";
import type { Environment } from "./local-error.js";

/** Absolute paths; undefined if the environment names no place for one (no usable home folder). */
export interface Folders {
  config: string | undefined;
  state: string | undefined;
}

/** A folder setting that is not an absolute path. */
export class FolderError extends Error {}

/**
 * Where settings and history live: `RESEARCH_CONFIG_DIR` and `RESEARCH_STATE_DIR`, else the platform's own
 * place. Relative XDG paths are ignored, as the XDG Base Directory specification asks; so is a relative home.
 * Throws FolderError for a relative `RESEARCH_*_DIR`: if it were ignored, files would be written to an unexpected place.
 */
export function chooseFolders({ env, platform }: { env: Environment; platform: string }): Folders {
  const home = requireAbsolute(env.HOME);
  const byPlatform: Record<string, Folders> = {
    win32: {
      config: joinBelow(requireAbsolute(env.APPDATA), "research"),
      state: joinBelow(requireAbsolute(env.LOCALAPPDATA), "research"),
    },
    darwin: {
      config: joinBelow(home, "Library", "Preferences", "research"),
      state: joinBelow(home, "Library", "Application Support", "research"),
    },
  };
  const xdg: Folders = {
    config: joinBelow(requireAbsolute(env.XDG_CONFIG_HOME) ?? joinBelow(home, ".config"), "research"),
    state: joinBelow(requireAbsolute(env.XDG_STATE_HOME) ?? joinBelow(home, ".local", "state"), "research"),
  };
  const systemFolders = byPlatform[platform] ?? xdg;
  return {
    config: readFolderVariable(env, "RESEARCH_CONFIG_DIR") ?? systemFolders.config,
    state: readFolderVariable(env, "RESEARCH_STATE_DIR") ?? systemFolders.state,
  };
}

/** What lies below a folder that may be unknown. */
export function joinBelow(base: string | undefined, ...parts: string[]): string | undefined {
  return base ? join(base, ...parts) : undefined;
}

/** A variable that names a folder; undefined for a relative path. */
export function requireAbsolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

function readFolderVariable(env: Environment, name: string): string | undefined {
  const path = env[name];
  if (!path) return undefined;
  if (!isAbsolute(path))
    throw new FolderError(`${name} must be an absolute path, and ${JSON.stringify(path)} is not`);
  return path;
}
