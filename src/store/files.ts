import * as fs from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errorText } from "../text/phrases.js";

/** Something on this machine could not be read or written. The message names the path and what to do. */
export class LocalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LocalError";
  }
}

/** An error of the system as a LocalError that says `what` failed, and why; a LocalError as it is. */
export function localError(what: string, cause: unknown): LocalError {
  return cause instanceof LocalError ? cause : new LocalError(`${what}: ${inWords(cause)}`, { cause });
}

/** What `use` gives. Throws `localError` of what it throws. */
export function orLocalError<T>(what: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw localError(what, error);
  }
}

/** The LocalError that `use` throws, if it does. */
export function localErrorOf(use: () => void): LocalError | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    if (error instanceof LocalError) return error;
    throw error;
  }
}

/** The system's code of an error (`ENOSPC`), or undefined. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const WORDS: Record<string, string> = {
  EACCES: "permission denied",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it exists already",
  EFBIG: "it would grow beyond the allowed size",
  EISDIR: "it is a folder",
  ENOENT: "no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
};

/** A system error in words: `the disk is full (ENOSPC)`. */
export function inWords(error: unknown): string {
  const code = systemCode(error);
  if (code && WORDS[code]) return `${WORDS[code]} (${code})`;
  return errorText(error);
}

/** A digest of 64 hexadecimal digits. Its module is loaded by what needs it: it costs up to a tenth of what a command takes. */
export function sha256(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
function makeMissing(path: string, make: (missing: string) => void): void {
  try {
    make(path);
    return;
  } catch (error) {
    if (systemCode(error) === "EEXIST" && fs.statSync(path).isDirectory()) return;
    if (systemCode(error) !== "ENOENT" || dirname(path) === path || fs.existsSync(dirname(path))) throw error;
  }
  makeMissing(dirname(path), make);
  makeMissing(path, make);
}

/** The new text is in place, but a power failure may bring the old one back: its folder could not be synced. */
export class UnsyncedError extends Error {
  override name = "UnsyncedError";
}

/** Writes a file whole and synced. Throws UnsyncedError, or a system error: then the old text stands. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.rmSync(draft, { force: true });
    writeSynced(draft, "wx", text);
    fs.renameSync(draft, path);
  } catch (error) {
    discard(draft);
    throw error;
  }
  try {
    syncFolder(dirname(path));
  } catch (error) {
    throw new UnsyncedError(errorText(error), { cause: error });
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
  withFile(path, "r+", (fd) => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
    fs.fsyncSync(fd);
  });
}

/**
 * Appends one line in one write, so that lines of several processes never mix. A line break goes before it as
 * well as after it: a torn line that a crash left there cannot swallow this one. Returns false if the file was replaced
 * meanwhile; `settled` is called before that is looked at, and should wait until none replaces it.
 */
export function appendLine(
  path: string,
  line: string,
  { sync, settled = () => {} }: { sync: boolean; settled?: () => void },
): boolean {
  const isNew = !fs.existsSync(path);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = fs.constants;
  const stays = withFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, (fd) => {
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
export function namesIn(path: string): string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** The text of a regular file of at most `maxBytes`; undefined if there is none. Throws UnfitFileError, or a system error. */
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
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
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
  withFile(path, flags, (fd) => {
    fs.fchmodSync(fd, FILE_MODE);
    // On a full disk `writeSync` writes short without an error; `writeFileSync` on the descriptor throws.
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function withFile<T>(path: string, flags: string | number, use: (fd: number) => T): T {
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
    withFile(path, "r", (fd) => fs.fsyncSync(fd));
  } catch (error) {
    if (!NOT_SYNCABLE.includes(systemCode(error) ?? "")) throw error;
  }
}

/** A prompt and a schema of 1 MiB each, every byte of them escaped as six, stay below this. */
export const MAX_RECORD_BYTES = 16 << 20;

/** Bytes read at a time: a screenful of the newest lines in one read, a search of 100,000 in a few hundred. */
const CHUNK = 1 << 18;
const LINE_BREAK = 0x0a;

/** Stands for the rest of a line over MAX_RECORD_BYTES, so that no reader takes it for a record. */
const CUT_OFF = Buffer.from("\u{0}");

/**
 * The lines of a file from the last to the first, blank ones left out, in memory that does not grow with the
 * file; of a line over MAX_RECORD_BYTES the rest is cut off. With `needle`, only lines that contain it; those are
 * found without looking at each line. Reading ends after about `maxBytes`. Nothing if there is no such file. Throws UnfitFileError, or a system error.
 */
export function* linesBackward(
  path: string,
  needle?: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Generator<Buffer> {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  try {
    // What was read of a line that begins in an earlier chunk, its end first.
    let rest: Buffer[] = [];
    let restBytes = 0;
    const { size } = fs.fstatSync(fd);
    for (let end = size; end > 0 && size - end < maxBytes; ) {
      const start = Math.max(0, end - CHUNK);
      const chunk = Buffer.allocUnsafe(end - start);
      const text = chunk.subarray(0, fs.readSync(fd, chunk, 0, chunk.length, start));
      end = start;
      const cut = start === 0 ? -1 : text.indexOf(LINE_BREAK);
      if (start > 0 && cut < 0) {
        restBytes += text.length;
        if (restBytes > MAX_RECORD_BYTES) rest = [CUT_OFF];
        else rest.push(text);
        continue;
      }
      const body = Buffer.concat([text.subarray(cut + 1), ...rest.reverse()]);
      rest = start === 0 ? [] : [text.subarray(0, cut)];
      restBytes = Math.max(0, cut);
      if (needle === undefined || body.includes(needle)) yield* splitBackward(body, needle);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function* splitBackward(body: Buffer, needle: string | undefined): Generator<Buffer> {
  for (let end = body.length; end > 0; ) {
    const cut = body.lastIndexOf(LINE_BREAK, end - 1);
    const line = body.subarray(cut + 1, end);
    if (line.length > 0 && (needle === undefined || line.includes(needle))) yield line;
    end = cut;
  }
}
