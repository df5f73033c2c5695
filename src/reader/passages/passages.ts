import type { Hit, Passage } from "../finding/source.js";

/** How many passages are searched for, and how many are returned at most. */
export const SEARCHED = 60;
const MOST = 5;
const LEAST = 3;
/** If no passage has this share of the question, none is about it. */
const ABOUT = 0.5;
/** The least score of further passages relative to the best, once there are LEAST passages. */
const CLOSE = 0.5;

/** Picks the passages of `hits` that match a question best, best first; empty if they have too little of the question. */
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
