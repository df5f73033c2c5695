import type { Hit, Passage } from "../finding/source.js";

/** How many passages are looked at, and how many of them are given. */
export const SEARCHED = 60;
const MOST = 5;
const LEAST = 3;
/** If no passage has this share of the question, all are about something else. */
const ABOUT = 0.5;
/** What a further passage must have of the best one's score, if there are LEAST of them. */
const CLOSE = 0.5;

/** The passages of `hits` that fit a question best, the best one first; none if too little of the question is in them. */
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
