import * as fs from "node:fs";
import { dirname } from "node:path";
import { describeError } from "../text/phrases.js";

/** The system's code of an error (`ENOSPC`), or undefined. */
export function getSystemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What only the owner may read: settings hold a key, the history holds prompts. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The most that is read of one file, in bytes: the results of the longest batch take less. */
const MAX_BYTES = 256 << 20;

/** Makes a folder, and those above it, that only the owner can enter, whatever the umask. */
export function makeFolder(path: string): void {
  makeMissing(path, (missing) => {
    fs.mkdirSync(missing, FOLDER_MODE);
    fs.chmodSync(missing, FOLDER_MODE);
  });
}

/** The same with the modes that the umask gives, for what its user may share. */
export function makeSharedFolder(path: string): void {
  makeMissing(path, (missing) => fs.mkdirSync(missing));
}

/** Without `recursive`, with which Node loops for ever in a place like /proc, where no folder can be made. */
function makeMissing(path: string, make: (missing: string) => void, isLast = false): void {
  try {
    make(path);
  } catch (error) {
    if (getSystemCode(error) === "EEXIST") {
      if (fs.statSync(path).isDirectory()) return;
      throw new UnfitFileError(path, "it is not a folder");
    }
    if (getSystemCode(error) !== "ENOENT" || isLast || dirname(path) === path) throw error;
    // Another process may have made the folder above it just now.
    if (!fs.existsSync(dirname(path))) makeMissing(dirname(path), make);
    makeMissing(path, make, true);
  }
}

/** The new text is in place, but a power failure may bring the old one back: its folder could not be synced. */
export class UnsyncedError extends Error {
  override name = "UnsyncedError";
}

/** Blocks the event loop for `ms` milliseconds. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Writes a file whole and synced. Throws UnsyncedError, or a system error: then the old text stands. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.rmSync(draft, { force: true });
    writeSynced(draft, "wx", text);
    putInPlace(draft, path);
  } catch (error) {
    discard(draft);
    throw error;
  }
}

/** Gives a draft that is whole and synced its name. Throws UnsyncedError, or a system error: then the old file stands. */
export function putInPlace(draft: string, path: string): void {
  fs.renameSync(draft, path);
  try {
    syncFolder(dirname(path));
  } catch (error) {
    throw new UnsyncedError(describeError(error), { cause: error });
  }
}

/** Removes a draft, a file or a folder, if that is possible: one that stays does not change what was written. */
export function discard(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true });
  } catch {
    // The file system does not let it be removed.
  }
}

/** Overwrites bytes that are there already, which needs no room on the disk, and syncs them. */
export function overwrite(path: string, offset: number, text: string): void {
  useFile(path, "r+", (fd) => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
    fs.fsyncSync(fd);
  });
}

/**
 * Appends one line in one write, so that lines of several processes never mix. A line break goes before it as
 * well as after it: a torn line that a crash left there cannot swallow this one. Returns false if the file was replaced
 * meanwhile. `settled` is called before that is checked; it should wait until no process is replacing the file.
 */
export function appendLine(
  path: string,
  line: string,
  { sync, settled = () => {} }: { sync: boolean; settled?: () => void },
): boolean {
  const isNew = !fs.existsSync(path);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = fs.constants;
  const stays = useFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, (fd) => {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new UnfitFileError(path, "it is not a regular file");
    fs.writeFileSync(fd, `\n${line}\n`);
    if (isNew) fs.fchmodSync(fd, FILE_MODE);
    if (sync) fs.fsyncSync(fd);
    settled();
    // While the file is open, no other file gets its number.
    return fs.statSync(path, { throwIfNoEntry: false })?.ino === stats.ino;
  });
  if (isNew && sync) syncFolder(dirname(path));
  return stays;
}

/** Takes away what others were allowed. Returns whether anything was. */
export function restrict(path: string): boolean {
  const mode = fs.statSync(path).mode & 0o777;
  if (process.platform === "win32" || (mode & 0o077) === 0) return false;
  fs.chmodSync(path, FILE_MODE);
  return true;
}

/** The names in a folder, sorted; empty if there is no such folder. */
export function listNames(path: string): string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (getSystemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** The text of a regular file of at most `getMaxBytes`; undefined if there is none. Throws UnfitFileError, or a system error. */
export function readIfThere(path: string, maxBytes = MAX_BYTES): string | undefined {
  try {
    const fd = openRegular(path);
    try {
      if (fs.fstatSync(fd).size > maxBytes)
        throw new UnfitFileError(path, `it is larger than ${maxBytes >> 20} MiB`);
      return fs.readFileSync(fd, "utf8");
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (getSystemCode(error) === "ENOENT" || getSystemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** A file that is not a regular one, or too large: reading it might never end. */
export class UnfitFileError extends Error {
  override name = "UnfitFileError";

  constructor(path: string, why: string) {
    super(`${path} cannot be used: ${why}`);
  }
}

/** Opens a regular file, without a FIFO's wait; the caller closes it. Throws UnfitFileError, or a system error. */
export function openRegular(path: string): number {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw new UnfitFileError(path, "it is not a regular file");
}

function writeSynced(path: string, flags: string, text: string | Uint8Array): void {
  useFile(path, flags, (fd) => {
    fs.fchmodSync(fd, FILE_MODE);
    // On a full disk `writeSync` writes short without an error; `writeFileSync` on the descriptor throws.
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function useFile<T>(path: string, flags: string | number, use: (fd: number) => T): T {
  const fd = fs.openSync(path, flags, FILE_MODE);
  try {
    return use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Not every file system syncs folders, and a folder that may be written may be closed to reading. */
const NOT_SYNCABLE = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF", "EISDIR", "EACCES", "EPERM"];

function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  try {
    useFile(path, "r", (fd) => fs.fsyncSync(fd));
  } catch (error) {
    if (!NOT_SYNCABLE.includes(getSystemCode(error) ?? "")) throw error;
  }
}
