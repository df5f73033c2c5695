import type { Hit, Passage } from "../searching/source.js";

/** How many passages a search requests; MOST and LEAST limit how many of them are picked. */
export const SEARCHED = 60;
const MOST = 5;
const LEAST = 3;
/** The least share of the question that one passage must have; otherwise none is picked. */
const ABOUT = 0.5;
/** The least score of further passages once LEAST are picked, relative to the best score. */
const CLOSE = 0.5;

/** Picks the passages of `hits` that match a question best, best first; empty if none shares enough of its words. */
export function pickBestPassages(hits: readonly Hit[]): Passage[] {
  if (!hits.some(({ share }) => share >= ABOUT)) return [];
  const ranked = hits
    .map(({ passage, score, share }) => ({ passage, score: score * share }))
    .sort((a, b) => b.score - a.score);
  const best = ranked[0]?.score ?? 0;
  const passages = new Map<string, Passage>();
  for (const { passage, score } of ranked) {
    const isFar = passages.size >= LEAST && score < CLOSE * best;
    if (isFar || passages.size >= MOST) break;
    const text = passage.lines.join("\n").trim();
    const isShown = [...passages.values()].some(
      ({ id, code }) => id === passage.id && code?.line === passage.line,
    );
    if (!passages.has(text) && !isShown) passages.set(text, passage);
  }
  return [...passages.values()];
}
