/** The source of a part of a result: of a range of `output` in UTF-16 units, or of a field such as `companies[0].name`. */
export type Citation = { start: number; end: number; url: string } | { field: string; url: string };

/** Returns the valid citations in `listed`, which comes from a service and may have any form. */
export function parseCitations(listed: unknown): Citation[] {
  if (!Array.isArray(listed)) return [];
  return listed.map(Object).filter(({ start, end, field, url }) => {
    const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end > start;
    return typeof url === "string" && (typeof field === "string" || isRange);
  });
}

const GROUNDING_REDIRECT = /^https?:\/\/vertexaisearch\.cloud\.google\.com\/grounding-api-redirect\//i;

/** Returns whether an address is a redirect of Google's grounding. Each answer has its own redirects, which expire after some days. */
export function isGroundingRedirect(url: string): boolean {
  return GROUNDING_REDIRECT.test(url);
}
