/** How many of the skipped files are named. */
const NAMED = 5;

/** The first of `names`, and how many more there are. */
export function listOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
