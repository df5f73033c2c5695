/** The shells that have a completion script. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export type Shell = (typeof SHELLS)[number];

/** A file with this line was written by `research completion`, and may be written anew. */
export const MARKER = "Written by `research completion`; it is replaced when that is run again.";
