import { promises as fs } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isIgnored, type Rules, rulesAbove, withRulesOf } from "./gitignore.js";
import { MAX_FILE_BYTES } from "./read-file.js";

/** A file that may be read. */
export interface SourceFile {
  /** Path below the folder, with forward slashes. */
  name: string;
  size: number;
  /** Last change, epoch ms. */
  changed: number;
}

export interface Sources {
  files: SourceFile[];
  /** Why not everything was taken, as in "stopped at 64 MiB"; undefined if it was. */
  stopped?: string;
  /** Names of files over MAX_FILE_BYTES, and of folders whose .gitignore cannot be read. */
  skipped: string[];
}

/** What one index takes at most (contract §4), so that a home folder does not keep the machine busy for an hour. */
export const MAX_FILES = 5_000;
export const MAX_TOTAL_BYTES = 64 * 1_048_576;

/** Folders of other people's code, whether or not a .gitignore names them. */
const PACKAGES = new Set(["node_modules", "bower_components", "__pycache__"]);
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|svg|pdf|zip|gz|tgz|bz2|xz|zst|7z|jar|war|so|dylib|dll|exe|bin|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|mkv|wav|flac|ogg|sqlite3?|db|class|pyc)$/i;

/** Dot-files are private; a name with a line break in it could not be cited as `file:line`. */
const UNCITABLE = /^\.|[\x00-\x1f\x7f]/;

/**
 * The readable files under `root` (an absolute path): no dot-files, nothing a .gitignore names, no symlinks, nothing
 * in `exclude` (paths of files and folders).
 */
export async function findSources(root: string, exclude: readonly string[] = []): Promise<Sources> {
  const excluded = new Set(await Promise.all(exclude.map(realPath)));
  const found: Sources = { files: [], skipped: [] };
  let total = 0;
  if ([...excluded].some((path) => root === path || root.startsWith(path + sep))) return found;
  const folders: { path: string; rules: Rules[] }[] = [{ path: root, rules: await rulesAbove(root) }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const { path } = folder;
    const rules = withRulesOf(path, folder.rules);
    if (rules === undefined) {
      found.skipped.push(nameOf(root, path));
      continue;
    }
    for (const entry of await entriesOf(path)) {
      const full = join(path, entry.name);
      if (UNCITABLE.test(entry.name) || excluded.has(full) || isIgnored(full, entry.isDirectory(), rules))
        continue;
      if (entry.isDirectory()) {
        if (!PACKAGES.has(entry.name)) folders.push({ path: full, rules });
        continue;
      }
      if (!entry.isFile() || BINARY.test(entry.name)) continue;
      const stat = await fs.lstat(full).catch(() => undefined);
      if (stat === undefined || !stat.isFile() || stat.size === 0) continue;
      const name = nameOf(root, full);
      if (stat.size > MAX_FILE_BYTES) {
        found.skipped.push(name);
        continue;
      }
      if (found.files.length >= MAX_FILES) return { ...found, stopped: `stopped at ${MAX_FILES} files` };
      if (total + stat.size > MAX_TOTAL_BYTES) {
        return { ...found, stopped: `stopped at ${MAX_TOTAL_BYTES / 1_048_576} MiB` };
      }
      total += stat.size;
      found.files.push({ name, size: stat.size, changed: stat.mtimeMs });
    }
  }
  return found;
}

function nameOf(root: string, path: string): string {
  return path === root ? "." : relative(root, path).split(sep).join("/");
}

async function entriesOf(path: string) {
  const entries = await fs.readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What is not there yet may be there at the next walk. */
async function realPath(path: string): Promise<string> {
  return fs.realpath(path).catch(() => resolve(path));
}
