import { describeError } from "../text/format-text.js";
import { getErrorCode } from "./file-access.js";

/** Thrown if a file or folder of this machine cannot be read or written. The message names the path and what to do. */
export class LocalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LocalError";
  }
}

/** Wraps a system error in a LocalError whose message names what failed (`what`) and why. Returns a LocalError unchanged. */
export function createLocalError(what: string, cause: unknown): LocalError {
  return cause instanceof LocalError
    ? cause
    : new LocalError(`${what}: ${describeSystemError(cause)}`, { cause });
}

/** Runs `use` and returns its result. Wraps each error with `createLocalError`. */
export function wrapFileErrors<T>(what: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw createLocalError(what, error);
  }
}

/** Runs `use` and returns the LocalError that it throws; undefined if it throws nothing. Rethrows other errors. */
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

/** Describes a system error in words: `the disk is full (ENOSPC)`. */
export function describeSystemError(error: unknown): string {
  const code = getErrorCode(error);
  if (code && WORDS[code]) return `${WORDS[code]} (${code})`;
  return describeError(error);
}

/** Returns the SHA-256 digest as 64 hexadecimal digits. Loads its module on first use, because that takes up to a tenth of a command's time. */
export function hashSha256(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

export type Environment = Readonly<Record<string, string | undefined>>;
