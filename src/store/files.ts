import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "./errors.js";

/** What only the owner may read: settings hold a key, the history holds prompts. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Makes a folder, and those above it, that only the owner can enter, whatever the umask. */
export function makeFolder(path: string): void {
  if (made(path)) fs.chmodSync(path, FOLDER_MODE);
}

/** By hand: with `recursive`, Node never returns from a place like /proc, whose folders exist and take none. */
function made(path: string): boolean {
  try {
    fs.mkdirSync(path, FOLDER_MODE);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST" && fs.statSync(path).isDirectory()) return false;
    if (systemCode(error) !== "ENOENT" || dirname(path) === path || fs.existsSync(dirname(path))) throw error;
  }
  makeFolder(dirname(path));
  return made(path);
}

/**
 * Writes a file as a whole and to the disk, its entry in the folder included: a reader, or a crash, sees the old
 * text, or none, or the new one. A torso is removed.
 */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.rmSync(draft, { force: true });
    writeSynced(draft, "wx", text);
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Overwrites bytes that are there already, which needs no room on the disk, and syncs them. */
export function overwrite(path: string, offset: number, text: string): void {
  withFile(path, "r+", (fd) => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
    fs.fsyncSync(fd);
  });
}

/**
 * Appends one line in one write, so that lines of several processes never mix. A line break goes before it as
 * well as after it: a torn line that a crash left there cannot swallow this one.
 */
export function appendLine(path: string, line: string, { sync }: { sync: boolean }): void {
  const isNew = !fs.existsSync(path);
  withFile(path, "a", (fd) => {
    fs.writeFileSync(fd, `\n${line}\n`);
    if (isNew) fs.fchmodSync(fd, FILE_MODE);
    if (sync) fs.fsyncSync(fd);
  });
  if (isNew && sync) syncFolder(dirname(path));
}

/** Takes away what others were allowed. Returns whether anything was. */
export function restrict(path: string): boolean {
  const mode = fs.statSync(path).mode & 0o777;
  if (process.platform === "win32" || (mode & 0o077) === 0) return false;
  fs.chmodSync(path, FILE_MODE);
  return true;
}

/** The names in a folder, sorted; none where there is no such folder. */
export function namesIn(path: string): string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** A file's text, or undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

function writeSynced(path: string, flags: string, text: string): void {
  withFile(path, flags, (fd) => {
    fs.fchmodSync(fd, FILE_MODE);
    // On a full disk `writeSync` writes short without an error; `writeFileSync` on the descriptor throws.
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function withFile(path: string, flags: string, use: (fd: number) => void): void {
  const fd = fs.openSync(path, flags, FILE_MODE);
  try {
    use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function syncFolder(path: string): void {
  if (process.platform !== "win32") withFile(join(path), "r", (fd) => fs.fsyncSync(fd));
}
