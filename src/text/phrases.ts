/** What an error says; of anything else that was thrown, its text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A word as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text on one line of at most `most` UTF-16 code units, an ellipsis at the cut; no surrogate pair is cut in two. */
export function shortLine(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
