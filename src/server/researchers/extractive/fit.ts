import { words } from "../sources/words.js";
import type { Question } from "./question.js";

/** How much of the score the kind of answer, and the neighbourhood of the question's words, decide. */
const BY_KIND_OF_ANSWER = 0.5;
const BY_NEARNESS = 0.2;
/** How far apart neighbours may be, in words. */
const NEAR = [-3, -2, -1, 2, 3];
/** Fewer words are a title or a fragment; more are no answer at a glance. */
const FEW_WORDS = 5;
const MANY_WORDS = 40;

/** A text that says the kind of thing that is asked for is worth more: 0.5 to 1. */
export function saysKind(text: string, { kinds }: Question): number {
  if (kinds.length === 0) return 1;
  const fits = kinds.map(({ says, best }): number => {
    if (!says.test(text)) return 0;
    return best === undefined || best.test(text) ? 1 : 0.5;
  });
  const share = fits.reduce((sum, fit) => sum + fit, 0) / kinds.length;
  return 1 - BY_KIND_OF_ANSWER + BY_KIND_OF_ANSWER * share;
}

/** Words that are neighbours in the question belong together: 0.8 to 1 by the share that are neighbours in the text. */
export function nearness(text: string, { terms }: Question): number {
  if (terms.length < 2) return 1;
  const places = new Map<string, Set<number>>();
  words(text).forEach((word, i) => {
    const known = places.get(word);
    if (known === undefined) places.set(word, new Set([i]));
    else known.add(i);
  });
  let near = 0;
  for (let i = 1; i < terms.length; i++) {
    const first = [...(places.get(terms[i - 1] ?? "") ?? [])];
    const second = places.get(terms[i] ?? "");
    if (first.some((at) => second?.has(at + 1))) near += 1;
    else if (first.some((at) => NEAR.some((by) => second?.has(at + by)))) near += 0.5;
  }
  return 1 - BY_NEARNESS + (BY_NEARNESS * near) / (terms.length - 1);
}

/** A text of `size` different words, `own` of them the question's. One that only repeats the question says nothing. */
export function lengthFactor(size: number, own: number): number {
  if (size - own < 1) return 0.3;
  if (size < FEW_WORDS) return 0.75;
  return size > MANY_WORDS ? Math.max(0.7, 1 - (size - MANY_WORDS) / 120) : 1;
}

/** Whether a text holds the question itself: it is where somebody asks it, not where it is answered. */
export function literalIn(text: string, { literal }: Question): boolean {
  return literal !== undefined && text.toLowerCase().includes(literal);
}
