import type { FolderSearch } from "../finding/corpus.js";
import type { Passage } from "../finding/source.js";
import { related, words } from "../matching/words.js";

/** How many passages are looked at, and how many of them are given. */
const SEARCHED = 60;
const MOST = 5;
const LEAST = 3;
/** Below this share of the question a passage is about something else. */
const ABOUT = 0.5;
/** What a further passage must have of the best one's score, if there are LEAST of them. */
const CLOSE = 0.5;
/** What a word counts that may stand for one of the question. */
const RELATED = 0.6;

/** The passages of a folder that fit `prompt` best, the best one first; none if too little of the question is in them. */
export async function bestPassages(search: FolderSearch, prompt: string): Promise<Passage[]> {
  const weights = await search.weights([...new Set(words(prompt))]);
  const hits = await search.search(prompt, SEARCHED);
  const ranked = hits
    .map(({ passage, score }) => ({ passage, score, share: shareOf(weights, passage) }))
    .filter(({ share }) => share >= ABOUT)
    .map(({ passage, score, share }) => ({ passage, score: score * share }))
    .sort((a, b) => b.score - a.score);
  const best = ranked[0]?.score ?? 0;
  const found = new Map<string, Passage>();
  for (const { passage, score } of ranked) {
    const isFar = found.size >= LEAST && score < CLOSE * best;
    if (isFar || found.size >= MOST) break;
    const text = passage.lines.join("\n").trim();
    if (!found.has(text)) found.set(text, passage);
  }
  return [...found.values()];
}

/** Which share of a question a passage speaks of, each word by what it tells: 0 to 1. */
function shareOf(weights: ReadonlyMap<string, number>, passage: Passage): number {
  const { lines, heading, header = [], caption = "", id } = passage;
  const said = new Set(words([id, heading, ...header, caption, ...lines].join("\n")));
  let total = 0;
  let sum = 0;
  for (const [term, weight] of weights) {
    total += weight;
    if (said.has(term)) sum += weight;
    else if (related(term).some((other) => said.has(other))) sum += RELATED * weight;
  }
  return total === 0 ? 0 : sum / total;
}
