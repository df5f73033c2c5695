import { errorText } from "../text/phrases.js";
import { systemCode } from "./files.js";

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

export type Environment = Readonly<Record<string, string | undefined>>;
