import * as fs from "node:fs";
import { dirname } from "node:path";
import { describeError } from "../text/format-text.js";

/** Returns the system's code of an error, such as `ENOSPC`; undefined if it has none. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Only the owner may read our files, because the settings contain a key, and the history contains prompts. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The largest file to read, in bytes; the results of the longest batch are smaller. */
const MAX_BYTES = 256 << 20;

/** Makes a folder and its missing parents. Only the owner can enter them, whatever the umask. */
export function makePrivateFolder(path: string): void {
  makeMissingFolders(path, (missing) => {
    fs.mkdirSync(missing, FOLDER_MODE);
    fs.chmodSync(missing, FOLDER_MODE);
  });
}

/** Makes a folder and its missing parents with the permissions of the umask, for files that a user may share. */
export function makeSharedFolder(path: string): void {
  makeMissingFolders(path, (missing) => fs.mkdirSync(missing));
}

/** Makes a folder without `recursive`, with which Node loops for ever in places like /proc, where no folder can be made. */
function makeMissingFolders(path: string, make: (missing: string) => void, isLast = false): void {
  try {
    make(path);
  } catch (error) {
    if (getErrorCode(error) === "EEXIST") {
      if (fs.statSync(path).isDirectory()) return;
      throw new UnsuitableFileError(path, "it is not a folder");
    }
    if (getErrorCode(error) !== "ENOENT" || isLast || dirname(path) === path) throw error;
    // Another process may have made the parent just now.
    if (!fs.existsSync(dirname(path))) makeMissingFolders(dirname(path), make);
    makeMissingFolders(path, make, true);
  }
}

/** Thrown by `replaceFile` and `publishDraft` if the new text is in place but a power failure may restore the old text. */
export class UnsyncedError extends Error {
  override name = "UnsyncedError";
}

/** Blocks the event loop for `ms` milliseconds. */
export function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Replaces a file atomically and syncs it. Throws UnsyncedError; or a system error, and then the old text is unchanged. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.rmSync(draft, { force: true });
    writeAndSync(draft, "wx", text);
    publishDraft(draft, path);
  } catch (error) {
    removeDraft(draft);
    throw error;
  }
}

/** Renames a complete, synced draft to `path`. Throws UnsyncedError; or a system error, and then the old file is unchanged. */
export function publishDraft(draft: string, path: string): void {
  fs.renameSync(draft, path);
  try {
    syncFolder(dirname(path));
  } catch (error) {
    throw new UnsyncedError(describeError(error), { cause: error });
  }
}

/** Removes a draft, which is a file or a folder. Ignores failures, because a draft that remains does no harm. */
export function removeDraft(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true });
  } catch {
    // The file system does not allow the removal.
  }
}

/** Overwrites existing bytes, which works even on a full disk, and syncs them. */
export function overwriteBytes(path: string, offset: number, text: string): void {
  withOpenFile(path, "r+", (fd) => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
    fs.fsyncSync(fd);
  });
}

/**
 * Appends one line in one write, so that lines of several processes never mix. Writes a line break before and after the
 * line, so that a line torn by a crash cannot swallow this one. Then calls `settle`, which should wait until no process is
 * replacing the file. Returns false if the file was replaced meanwhile.
 */
export function appendLine(
  path: string,
  line: string,
  { sync, settle = () => {} }: { sync: boolean; settle?: () => void },
): boolean {
  const isNew = !fs.existsSync(path);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = fs.constants;
  const stays = withOpenFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, (fd) => {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new UnsuitableFileError(path, "it is not a regular file");
    fs.writeFileSync(fd, `\n${line}\n`);
    if (isNew) fs.fchmodSync(fd, FILE_MODE);
    if (sync) fs.fsyncSync(fd);
    settle();
    // Another file cannot get the inode number of this one while it is open.
    return fs.statSync(path, { throwIfNoEntry: false })?.ino === stats.ino;
  });
  if (isNew && sync) syncFolder(dirname(path));
  return stays;
}

/** Removes the permissions of other users. Returns whether they had any. */
export function makePrivate(path: string): boolean {
  const mode = fs.statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return false;
  fs.chmodSync(path, FILE_MODE);
  return true;
}

/** Returns the names in a folder, sorted; empty if the folder does not exist. */
export function listFolder(path: string): string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Reads a regular file of at most `maxBytes`; undefined if it does not exist. Throws UnsuitableFileError for another file, or a system error. */
export function readIfExists(path: string, maxBytes = MAX_BYTES): string | undefined {
  try {
    const fd = openRegular(path);
    try {
      if (fs.fstatSync(fd).size > maxBytes)
        throw new UnsuitableFileError(path, `it is larger than ${maxBytes >> 20} MiB`);
      return fs.readFileSync(fd, "utf8");
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (getErrorCode(error) === "ENOENT" || getErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Thrown if a path is not a folder or regular file as required, or if a file is too large. */
export class UnsuitableFileError extends Error {
  override name = "UnsuitableFileError";

  constructor(path: string, why: string) {
    super(`${path} cannot be used: ${why}`);
  }
}

/** Opens a regular file for reading, without waiting if it is a FIFO. The caller closes it. Throws UnsuitableFileError or a system error. */
export function openRegular(path: string): number {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw new UnsuitableFileError(path, "it is not a regular file");
}

function writeAndSync(path: string, flags: string, text: string | Uint8Array): void {
  withOpenFile(path, flags, (fd) => {
    fs.fchmodSync(fd, FILE_MODE);
    // On a full disk `writeSync` writes short without an error; `writeFileSync` on the descriptor throws.
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function withOpenFile<T>(path: string, flags: string | number, use: (fd: number) => T): T {
  const fd = fs.openSync(path, flags, FILE_MODE);
  try {
    return use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** The errors of folders that cannot be synced: the file system does not support it, or the folder is not readable. */
const NOT_SYNCABLE = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF", "EISDIR", "EACCES", "EPERM"];

function syncFolder(path: string): void {
  try {
    withOpenFile(path, "r", (fd) => fs.fsyncSync(fd));
  } catch (error) {
    if (!NOT_SYNCABLE.includes(getErrorCode(error) ?? "")) throw error;
  }
}
