import { type Dirent, existsSync, promises as fs } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { describeTooLarge, getSizeLimit, MAX_TOTAL_BYTES, NOT_TEXT, readRegularFile } from "./read-file.js";

/** A file to read. */
export interface SourceFile {
  /** The path below the folder, with forward slashes. */
  name: string;
  size: number;
  /** When the file was last changed, epoch ms. */
  changed: number;
}

export interface Sources {
  files: SourceFile[];
  /** Why the search ended early, such as "stopped at 64 MiB"; undefined if it did not. */
  stopped?: string;
  /** The files that are not read, with the reasons; at most MAX_FILES. Files that the search skips are not listed. */
  unread: { name: string; reason: string }[];
}

/** The most files of one index (contract §4), so that a home folder does not keep the machine busy for an hour. */
export const MAX_FILES = 5_000;

/** Folders of third-party code, which are left out even without a .gitignore. */
const PACKAGES = new Set(["node_modules", "bower_components", "__pycache__"]);
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|svg|zip|gz|tgz|bz2|xz|zst|7z|jar|war|so|dylib|dll|exe|bin|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|mkv|wav|flac|ogg|sqlite3?|db|class|pyc)$/i;

/** Matches the extensions of documents that cannot be read, with the reason and what to do. */
const OTHER_KINDS: readonly [RegExp, string][] = [
  [/\.(?:xls[xmb]?|ods|numbers)$/i, "it is a spreadsheet; save it as CSV"],
  [/\.(?:ppt[xm]?|odp)$/i, "it is a set of slides; save it as PDF"],
  [/\.(?:epub|mobi|azw3?)$/i, "it is an e-book; convert it to HTML or text"],
  [/\.(?:doc|odt|rtf|pages)$/i, "it is a document of a word processor; save it as docx"],
  [/\.ipynb$/i, "it is a notebook; convert it to Markdown"],
];

/** Matches control characters. A file with one in its name is left out, because it could not be cited as `file:line`. */
const UNCITABLE = /[\x00-\x1f\x7f]/;

/**
 * Finds the readable files below `root` (absolute path). Skips dot-files, files that a .gitignore names, and what `exclude`
 * names. Lists others that it does not read, such as symlinks, in `unread`.
 */
export async function findSourceFiles(root: string, exclude: readonly string[] = []): Promise<Sources> {
  // A path that does not exist now may exist at the next search, so keep it.
  const resolveRealPath = (path: string) => fs.realpath(path).catch(() => resolve(path));
  const excluded = new Set(await Promise.all(exclude.map(resolveRealPath)));
  const sources: Sources = { files: [], unread: [] };
  const leaveOut = (path: string, reason: string) => {
    const name = buildName(root, path).replace(UNCITABLE, "?");
    if (sources.unread.length < MAX_FILES) sources.unread.push({ name, reason });
  };
  let total = 0;
  if ([...excluded].some((path) => root === path || root.startsWith(path + sep))) return sources;
  const folders: { path: string; rules: Rules[] }[] = [{ path: root, rules: readRulesAbove(root) }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const { path } = folder;
    const rules = addRules(path, folder.rules);
    const entries = rules && (await fs.readdir(path, { withFileTypes: true }).catch(() => undefined));
    if (entries === undefined) leaveOut(path, rules ? "it cannot be read" : "its .gitignore is too large");
    if (rules === undefined || entries === undefined) continue;
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const full = join(path, entry.name);
      // Skip dot-files, because they are private.
      if (entry.name.startsWith(".") || excluded.has(full)) continue;
      if (isIgnored(full, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory() && !PACKAGES.has(entry.name) && !UNCITABLE.test(entry.name)) {
        folders.push({ path: full, rules });
        continue;
      }
      const stat = entry.isFile() ? await fs.lstat(full).catch(() => undefined) : undefined;
      const reason = explainUnreadable(entry, stat?.size ?? 0);
      if (reason !== undefined) leaveOut(full, reason);
      if (reason !== undefined || !stat?.isFile() || stat.size === 0) continue;
      if (sources.files.length >= MAX_FILES) return { ...sources, stopped: `stopped at ${MAX_FILES} files` };
      if (total + stat.size > MAX_TOTAL_BYTES)
        return { ...sources, stopped: `stopped at ${MAX_TOTAL_BYTES / 1_048_576} MiB` };
      total += stat.size;
      sources.files.push({ name: buildName(root, full), size: stat.size, changed: stat.mtimeMs });
    }
  }
  return sources;
}

/** Returns why a file or folder is not read; undefined if it should be. `size` is in bytes. */
function explainUnreadable(entry: Dirent, size: number): string | undefined {
  if (UNCITABLE.test(entry.name)) return "its name has a line break or another control character";
  if (entry.isDirectory()) return "a folder of packages";
  if (entry.isSymbolicLink()) return "a symbolic link";
  if (!entry.isFile()) return "not a regular file";
  if (BINARY.test(entry.name)) return NOT_TEXT;
  const kind = OTHER_KINDS.find(([ending]) => ending.test(entry.name))?.[1];
  if (kind !== undefined) return kind;
  const limit = getSizeLimit(entry.name);
  return size > limit ? describeTooLarge(limit) : undefined;
}

function buildName(root: string, path: string): string {
  return path === root ? "." : relative(root, path).split(sep).join("/");
}

/** The rules of a .gitignore, and its folder. */
interface Rules {
  folder: string;
  ignore: Ignore;
}

/** git distinguishes upper and lower case if the file system does. */
const AS_GIT = { ignorecase: process.platform !== "linux" };
/** The largest .gitignore, in bytes: some ten thousand rules. It is limited because each rule is tried on each path. */
const MAX_RULES_BYTES = 262_144;

/** Reads the .gitignore files from the root of the repository down to the parent of `root`. */
function readRulesAbove(root: string): Rules[] {
  const above: string[] = [];
  for (let path = root; ; path = dirname(path)) {
    if (path !== root) above.unshift(path);
    if (existsSync(join(path, ".git"))) break;
    if (dirname(path) === path) return [];
  }
  let rules: Rules[] = [];
  for (const path of above) rules = addRules(path, rules) ?? rules;
  // If the user names an ignored folder as the sources, read it.
  return above.length > 0 && isIgnored(root, true, rules) ? [] : rules;
}

/** Adds the rules of the .gitignore in `folder` to `rules`; undefined if the file is too large. */
function addRules(folder: string, rules: Rules[]): Rules[] | undefined {
  const text = readRegularFile(join(folder, ".gitignore"), MAX_RULES_BYTES);
  if (text === "too large") return undefined;
  if (text === undefined) return rules;
  return [...rules, { folder, ignore: ignore(AS_GIT).add(text.toString("utf8")) }];
}

/** Returns whether rules exclude a path, as in git: the last match wins, and inner .gitignore files come after outer ones. */
function isIgnored(path: string, folder: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { folder: base, ignore } of rules) {
    const verdict = ignore.test(relative(base, path).split(sep).join("/") + (folder ? "/" : ""));
    if (verdict.ignored) ignored = true;
    else if (verdict.unignored) ignored = false;
  }
  return ignored;
}
