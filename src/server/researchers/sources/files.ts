import { constants, promises as fs } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

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
  /** Why not everything was taken, as a sentence; undefined when it was. */
  stopped?: string;
}

/** What one index takes at most, so that a home folder does not keep the machine busy for an hour. */
export const MAX_FILES = 5_000;
export const MAX_TOTAL_BYTES = 64 * 1_048_576;
export const MAX_FILE_BYTES = 1_048_576;

/** Folders of other people's code, whether or not a .gitignore names them. */
const SKIPPED = new Set(["node_modules", "bower_components", "__pycache__"]);
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|pdf|zip|gz|tgz|bz2|xz|zst|7z|jar|war|so|dylib|dll|exe|bin|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|mkv|wav|flac|ogg|sqlite3?|db|class|pyc)$/i;

/** git tells cases apart where the file system does. */
const AS_GIT = { ignorecase: process.platform !== "linux" };

/** Dot-files are private; a name with a line break in it could not be cited as `file:line`. */
const UNCITABLE = /^\.|[\x00-\x1f\x7f]/;

/** One .gitignore with the folder it speaks of. */
interface Rules {
  folder: string;
  ignore: Ignore;
}

/** The readable files under `root` (an absolute path): no dot-files, nothing a .gitignore names, no symlinks. */
export async function findSources(root: string): Promise<Sources> {
  const files: SourceFile[] = [];
  let total = 0;
  const folders: { path: string; rules: Rules[] }[] = [{ path: root, rules: await rulesAbove(root) }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const { path } = folder;
    const rules = await withRulesOf(path, folder.rules);
    for (const entry of await entriesOf(path)) {
      const full = join(path, entry.name);
      if (UNCITABLE.test(entry.name) || isIgnored(full, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) folders.push({ path: full, rules });
        continue;
      }
      if (!entry.isFile() || BINARY.test(entry.name)) continue;
      const stat = await fs.lstat(full).catch(() => undefined);
      if (stat === undefined || !stat.isFile() || stat.size > MAX_FILE_BYTES || stat.size === 0) continue;
      if (files.length >= MAX_FILES) return { files, stopped: `stopped at ${MAX_FILES} files` };
      if (total + stat.size > MAX_TOTAL_BYTES) {
        return { files, stopped: `stopped at ${MAX_TOTAL_BYTES / 1_048_576} MiB` };
      }
      total += stat.size;
      files.push({ name: relative(root, full).split(sep).join("/"), size: stat.size, changed: stat.mtimeMs });
    }
  }
  return { files };
}

/** The text of one file; undefined when it is gone, became a symlink, grew too large, or is no text. */
export async function readText(root: string, name: string): Promise<string | undefined> {
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(join(root, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    if ((await handle.stat()).size > MAX_FILE_BYTES) return undefined;
    const bytes = await handle.readFile();
    if (bytes.includes(0)) return undefined;
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}

async function entriesOf(path: string) {
  const entries = await fs.readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The .gitignore files between the root of the repository around `root` and `root` itself. */
async function rulesAbove(root: string): Promise<Rules[]> {
  const above: string[] = [];
  for (let path = root; ; path = dirname(path)) {
    if (path !== root) above.unshift(path);
    if (await exists(join(path, ".git"))) break;
    if (dirname(path) === path) return [];
  }
  let rules: Rules[] = [];
  for (const path of above) rules = await withRulesOf(path, rules);
  // Whoever names an ignored folder as the sources wants it read.
  return above.length > 0 && isIgnored(root, true, rules) ? [] : rules;
}

async function exists(path: string): Promise<boolean> {
  return fs.access(path).then(
    () => true,
    () => false,
  );
}

async function withRulesOf(folder: string, rules: Rules[]): Promise<Rules[]> {
  const text = await fs.readFile(join(folder, ".gitignore"), "utf8").catch(() => undefined);
  return text === undefined ? rules : [...rules, { folder, ignore: ignore(AS_GIT).add(text) }];
}

/** As git does it: the last rule that says anything wins, an inner .gitignore coming after an outer one. */
function isIgnored(path: string, folder: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { folder: base, ignore } of rules) {
    const said = ignore.test(relative(base, path).split(sep).join("/") + (folder ? "/" : ""));
    if (said.ignored) ignored = true;
    else if (said.unignored) ignored = false;
  }
  return ignored;
}
