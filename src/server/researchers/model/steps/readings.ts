import { isObject } from "../../../../json/is-object.js";
import type { Cited } from "../checks/sentence.js";
import type { Reading } from "../session/session.js";
import type { Note } from "./quoting.js";

/** How many queries of one list are used, and how long each may be, in characters. */
const MAX_QUERIES = 5;
const LONGEST = 200;
const MAX_PARTS = 8;

/** A part of the question, with what to search for. */
export interface Part {
  question: string;
  queries: string[];
}

/** The parts of the question, from a reply to PLAN; a list of queries alone will do. */
export function readPlan(reply: unknown, question: string): Reading<Part[]> {
  const listed = isObject(reply) ? (reply.questions ?? reply.queries) : reply;
  if (!Array.isArray(listed)) return { wrong: '"questions" is not a list' };
  const parts = listed.flatMap((part): Part[] => {
    if (!isObject(part) || typeof part.question !== "string") return [];
    const own = part.question.trim().slice(0, LONGEST);
    return own === "" ? [] : [{ question: own, queries: queriesIn(part.queries) }];
  });
  const queries = queriesIn(listed);
  return { value: parts.length > 0 ? parts.slice(0, MAX_PARTS) : [{ question, queries }] };
}

/** Notes, from a reply to NOTES. An entry without a claim, a source and a quote is left out. */
export function readNotes(reply: unknown): Reading<{ notes: Note[]; answered: number[]; queries: string[] }> {
  const { facts, answered, queries } = isObject(reply) ? reply : { facts: reply };
  if (!Array.isArray(facts)) return { wrong: '"facts" is not a list' };
  const notes = facts.flatMap((fact) => {
    if (!isObject(fact) || typeof fact.claim !== "string" || typeof fact.quote !== "string") return [];
    const source = numberIn(fact.source);
    return source === undefined ? [] : [{ claim: fact.claim, source, quote: fact.quote }];
  });
  return { value: { notes, answered: numbersIn(answered), queries: queriesIn(queries) } };
}

const KINDS = ["text", "list", "steps", "table"] as const;

export interface Draft {
  sentences: Cited[];
  sections: { title: string; kind: (typeof KINDS)[number]; columns: string[]; items: Cited[] }[];
  disagree: { about: string; sides: Cited[] }[];
  missing: string[];
}

/** An answer, from a reply to ANSWER. What has another form is left out. */
export function readAnswer(reply: unknown): Reading<Draft> {
  const answer = isObject(reply) ? reply : { sentences: reply };
  if (!Array.isArray(answer.sentences)) return { wrong: '"sentences" is not a list' };
  const sections = objectsIn(answer.sections).map(({ title, kind, columns, items }) => ({
    title: typeof title === "string" ? title : "",
    kind: KINDS.find((known) => known === kind) ?? "text",
    columns: textsIn(columns),
    items: citedIn(items),
  }));
  const disagree = objectsIn(answer.disagree).map(({ about, sides }) => ({
    about: typeof about === "string" ? about : "",
    sides: citedIn(sides),
  }));
  return {
    value: { sentences: citedIn(answer.sentences), sections, disagree, missing: textsIn(answer.missing) },
  };
}

function citedIn(value: unknown): Cited[] {
  return objectsIn(value).flatMap(({ text, facts }) =>
    typeof text === "string" ? [{ text, facts: numbersIn(facts) }] : [],
  );
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === "string") : [];
}

function numbersIn(value: unknown): number[] {
  return [value].flat().flatMap((part) => numberIn(part) ?? []);
}

function queriesIn(value: unknown): string[] {
  const queries = textsIn(value).map((query) => query.trim().slice(0, LONGEST));
  return queries.filter(Boolean).slice(0, MAX_QUERIES);
}

/** A number, or one that a model wrote as text, as in `Source 3`. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const digits = typeof value === "string" ? /\d+/.exec(value)?.[0] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
