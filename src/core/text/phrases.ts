/** What an error says; of anything else that was thrown, its text. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A word as a POSIX shell reads it back. */
export function quoteShellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A number with what is counted, as in "1 row" and "1,200 rows". */
export function formatCount(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

/** Text of at most `most` UTF-16 code units, an ellipsis at the cut; no surrogate pair is cut in two. */
export function shortenText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** The same on one line. */
export function shortenLine(text: string, most: number): string {
  return shortenText(text.replace(/\s+/g, " ").trim(), most);
}
