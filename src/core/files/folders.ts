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
export function folders({ env, platform }: { env: Environment; platform: string }): Folders {
  const home = absolute(env.HOME);
  const byPlatform: Record<string, Folders> = {
    win32: {
      config: below(absolute(env.APPDATA), "research"),
      state: below(absolute(env.LOCALAPPDATA), "research"),
    },
    darwin: {
      config: below(home, "Library", "Preferences", "research"),
      state: below(home, "Library", "Application Support", "research"),
    },
  };
  const xdg: Folders = {
    config: below(absolute(env.XDG_CONFIG_HOME) ?? below(home, ".config"), "research"),
    state: below(absolute(env.XDG_STATE_HOME) ?? below(home, ".local", "state"), "research"),
  };
  const own = byPlatform[platform] ?? xdg;
  return {
    config: chosen(env, "RESEARCH_CONFIG_DIR") ?? own.config,
    state: chosen(env, "RESEARCH_STATE_DIR") ?? own.state,
  };
}

/** What lies below a folder that may be unknown. */
export function below(base: string | undefined, ...parts: string[]): string | undefined {
  return base ? join(base, ...parts) : undefined;
}

/** A variable that names a folder; undefined for a relative path. */
export function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

function chosen(env: Environment, name: string): string | undefined {
  const path = env[name];
  if (!path) return undefined;
  if (!isAbsolute(path))
    throw new FolderError(`${name} must be an absolute path, and ${JSON.stringify(path)} is not`);
  return path;
}
