/** The most that one call gives (contract §8), in UTF-16 code units. */
export const PAGE_CHARACTERS = 40_000;

/**
 * A page of a text from `offset` (in UTF-16 code units), and where the next one begins; null after the last. No
 * surrogate pair is cut in two.
 */
export function pageOf(text: string, offset: number): { content: string; next: number | null } {
  const start = Math.min(offset, text.length);
  let end = Math.min(start + PAGE_CHARACTERS, text.length);
  const isPair = /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end));
  if (end < text.length && isPair) end -= 1;
  return { content: text.slice(start, end), next: end < text.length ? end : null };
}
