import { describeError } from "../text/phrases.js";
import { getSystemCode } from "./files.js";

/** Something on this machine could not be read or written. The message names the path and what to do. */
export class LocalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LocalError";
  }
}

/** An error of the system as a LocalError that says `what` failed, and why; a LocalError as it is. */
export function createLocalError(what: string, cause: unknown): LocalError {
  return cause instanceof LocalError
    ? cause
    : new LocalError(`${what}: ${describeSystemError(cause)}`, { cause });
}

/** What `use` gives. Throws `createLocalError` of what it throws. */
export function runLocally<T>(what: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw createLocalError(what, error);
  }
}

/** The LocalError that `use` throws, if it does. */
export function catchLocalError(use: () => void): LocalError | undefined {
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
export function describeSystemError(error: unknown): string {
  const code = getSystemCode(error);
  if (code && WORDS[code]) return `${WORDS[code]} (${code})`;
  return describeError(error);
}

/** A digest of 64 hexadecimal digits. Its module is loaded by what needs it: it costs up to a tenth of what a command takes. */
export function hashSha256(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

export type Environment = Readonly<Record<string, string | undefined>>;
