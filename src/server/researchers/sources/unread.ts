import type { Unread } from "./source.js";

/** How many names are given for one reason. */
const NAMED = 10;

/** What is not searched, by its reason, as in "a.png, b.png (not text); old/c.csv (larger than 8 MiB)". */
export function listOf(unread: readonly Unread[]): string {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of unread) {
    const names = byReason.get(reason);
    if (names) names.push(name);
    else byReason.set(reason, [name]);
  }
  return [...byReason]
    .map(([reason, names]) => {
      const more = names.length - NAMED;
      return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""} (${reason})`;
    })
    .join("; ");
}
