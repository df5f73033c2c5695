/** Returns the message of an error, or the text of anything else that was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Quotes a word for a POSIX shell if it needs quotes. */
export function quoteShellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Formats a number with its noun, such as "1 row" and "1,200 rows". */
export function formatCount(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

/** Shortens a text to `most` UTF-16 code units, with an ellipsis at the end. Never splits a surrogate pair. */
export function shortenText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** Puts a text on one line and shortens it like `shortenText`. */
export function shortenLine(text: string, most: number): string {
  return shortenText(text.replace(/\s+/g, " ").trim(), most);
}
