import { isObject } from "../json.js";
import type { Reading } from "../session/session.js";
import type { Note } from "./quoting.js";

/** How many queries of one reply are used, and how long each may be, in characters. */
const MAX_QUERIES = 5;
const LONGEST_QUERY = 200;

/** Queries for the index, from a reply to PLAN. */
export function readPlan(reply: unknown): Reading<string[]> {
  const queries = isObject(reply) ? queriesIn(reply.queries) : undefined;
  return queries === undefined ? { wrong: '"queries" is not a list of strings' } : { value: queries };
}

/** Notes and further queries, from a reply to NOTES. An entry without a claim, a source and a quote is left out. */
export function readNotes(reply: unknown): Reading<{ notes: Note[]; queries: string[] }> {
  if (!isObject(reply) || !Array.isArray(reply.facts)) return { wrong: '"facts" is not a list' };
  const notes = reply.facts.flatMap((fact) => {
    if (!isObject(fact) || typeof fact.claim !== "string" || typeof fact.quote !== "string") return [];
    const source = numberIn(fact.source);
    return source === undefined ? [] : [{ claim: fact.claim, source, quote: fact.quote }];
  });
  return { value: { notes, queries: queriesIn(reply.queries) ?? [] } };
}

/** Sentences with the numbers of their facts, from a reply to ANSWER. */
export function readAnswer(reply: unknown): Reading<{ text: string; facts: number[] }[]> {
  if (!isObject(reply) || !Array.isArray(reply.sentences)) return { wrong: '"sentences" is not a list' };
  const sentences = reply.sentences.flatMap((sentence) => {
    if (!isObject(sentence) || typeof sentence.text !== "string") return [];
    const facts = [sentence.facts].flat().flatMap((fact) => numberIn(fact) ?? []);
    return [{ text: sentence.text, facts }];
  });
  return { value: sentences };
}

function queriesIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const queries = value.filter((query) => typeof query === "string").map((query) => query.trim());
  return queries
    .filter(Boolean)
    .map((query) => query.slice(0, LONGEST_QUERY))
    .slice(0, MAX_QUERIES);
}

/** A number, or one that a model wrote as text, as in `Source 3`. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const digits = typeof value === "string" ? /\d+/.exec(value)?.[0] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
