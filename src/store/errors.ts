/** Something on this machine could not be read or written. The message names the path and what to do. */
export class LocalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LocalError";
  }
}

/** What to do about a settings file that cannot be read. */
export const HOW_TO_REPAIR = "Correct the file, or remove it to start afresh";

/** Settings that are not valid JSON. The parser's message is not used: it quotes the text, and a key may stand in it. */
export class InvalidSettingsError extends LocalError {
  readonly text: string;

  /** `place`: where the JSON is invalid, if that is known. */
  constructor(
    readonly path: string,
    text: string,
    place = "",
  ) {
    super(`the settings in ${path} are not valid JSON${place && ` (${place})`}. ${HOW_TO_REPAIR}`);
    this.text = text;
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
  ENOENT: "there is no such file",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
};

/** A system error in words: `the disk is full (ENOSPC)`. */
export function inWords(error: unknown): string {
  const code = systemCode(error);
  if (code && WORDS[code]) return `${WORDS[code]} (${code})`;
  return error instanceof Error ? error.message : String(error);
}
