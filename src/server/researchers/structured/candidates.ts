import { coverageOf } from "../extractive/coverage.js";
import type { Window } from "../extractive/windows.js";
import { words } from "../sources/words.js";
import { type Role, saysRole } from "./claims.js";
import { allowed, numbersIn, particular } from "./literals.js";
import { overlap } from "./schema/property-words.js";
import type { View } from "./schema/schema-view.js";
import { unitAfter, unitsIn } from "./schema/units.js";

/** What is asked of a value. */
export interface Demand {
  view: View;
  /** What it has to be said to be; empty if any value of the subject will do. */
  roles: readonly Role[];
  /** The units that its name or description gives; empty if there is none. */
  units: ReadonlySet<string>;
  /** What the sentence with the value has to speak of, each word with what it tells. */
  subject: ReadonlyMap<string, number>;
  /** Words that may follow a number which counts the right thing, as in "12 apples". */
  counted: ReadonlySet<string>;
}

/** A value that a window may give. */
export interface Candidate {
  value: unknown;
  /** The text says of it what is asked: that it is the default, the maximum, or the number of that thing. */
  isSaid: boolean;
  window: Window;
}

/** A number counts the word that follows it within this many words: "10 creates", "10 free creates". */
const NEAR = 2;

/** The values of the right type that a window gives. */
export function candidatesIn(window: Window, demand: Demand): Candidate[] {
  const text = plain(window.text);
  const { type, schema } = demand.view;
  const all = type === "string" ? literals(text, demand) : numbers(text, window.heading, demand);
  const found = all.filter(({ start, end }) =>
    speaksOf(sentenceAt(text, start, end), window, demand.subject),
  );
  // Several values of which none is said to be the right one are no answer.
  const said = found.filter(({ isSaid }) => isSaid);
  const kept = said.length > 0 ? said : found;
  if (new Set(kept.map(({ value }) => value)).size > 1) return [];
  const fits = (value: unknown) =>
    !(typeof value === "string" && typeof schema.maxLength === "number" && value.length > schema.maxLength);
  return kept.filter(({ value }) => fits(value)).map(({ value, isSaid }) => ({ value, isSaid, window }));
}

/** Which share of the subject the sentence with the value, and what is above it, has to have. */
const SUBJECT = 0.55;

/** Whether a sentence speaks of the subject, and not only the ones around it. */
function speaksOf(sentence: string, { context }: Window, subject: ReadonlyMap<string, number>): boolean {
  const above = { ...context, passage: new Set<string>() };
  return subject.size === 0 || coverageOf(subject, new Set(words(sentence)), above) >= SUBJECT;
}

/** The sentence of `text` that holds what stands from `start` to `end`. */
function sentenceAt(text: string, start: number, end: number): string {
  const before =
    text
      .slice(0, start)
      .split(/[.!?]["')*]{0,2}\s/)
      .at(-1) ?? "";
  const after = text.slice(end).split(/[.!?]["')*]{0,2}(?:\s|$)/)[0] ?? "";
  return before + text.slice(start, end) + after;
}

function numbers(text: string, heading: string, { view, roles, units, counted }: Demand) {
  const near = unitsIn(`${heading} ${text}`);
  return numbersIn(text).flatMap(({ value, start, end }) => {
    if (view.type === "integer" && !Number.isInteger(value)) return [];
    const after = text.slice(end, end + 80);
    const unit = unitAfter(after);
    const isUnit = unit === undefined ? units.size === 0 || overlap(units, near) > 0 : units.has(unit);
    if (!isUnit) return [];
    const clause = after.split(/[.;:!?](?:\s|$)/)[0] ?? "";
    const counts = overlap(counted, new Set(words(clause).slice(0, NEAR))) > 0;
    const isSaid = roles.length > 0 ? saysRole(text, start, end, roles) : counts;
    return [{ value, isSaid, start, end }];
  });
}

function literals(text: string, { view, roles }: Demand) {
  const permitted = allowed(view.schema);
  const found = permitted
    ? permitted.flatMap((value) => placesOf(text, String(value)).map((at) => ({ value, ...at })))
    : matches(text, view);
  return found.map(({ value, start, end }) => ({
    ...{ value, start, end },
    isSaid: roles.length > 0 ? saysRole(text, start, end, roles) : false,
  }));
}

function matches(text: string, { schema }: View): { value: unknown; start: number; end: number }[] {
  const found: { value: unknown; start: number; end: number }[] = [];
  for (let from = 0; from < text.length && found.length < 10; ) {
    const value = particular(text.slice(from), schema);
    const at = value === undefined || value === "" ? -1 : text.indexOf(value, from);
    // A date may be written otherwise than it is given: then the first one is all that is looked at.
    if (value === undefined || at < 0)
      return value === undefined || found.length > 0 ? found : [{ value, start: 0, end: text.length }];
    found.push({ value, start: at, end: at + value.length });
    from = at + value.length;
  }
  return found;
}

function placesOf(text: string, value: string): { start: number; end: number }[] {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "giu");
  return [...text.matchAll(pattern)].map(({ index, 0: raw }) => ({ start: index, end: index + raw.length }));
}

/** The text of a piece of Markdown. */
export function plain(text: string): string {
  return text
    .replace(/\*\*|__|`|\\(?=[|*_`])/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The one value that the candidates, best first, agree on: it is said to be what is asked and no other value is said
 * so of nearly as good a place, or `alone` allows one that is only there and nothing contradicts it, or two files
 * give it.
 */
export function decided(candidates: readonly Candidate[], alone: boolean): Candidate | undefined {
  const said = candidates.filter(({ isSaid }) => isSaid);
  const kept = said.length > 0 ? said : candidates;
  const [best] = kept;
  if (best === undefined) return undefined;
  const close = kept.filter(({ window }) => window.score >= CLOSE * best.window.score);
  if (close.some(({ value }) => value !== best.value)) return undefined;
  const files = new Set(close.map(({ window }) => window.file));
  return said.length > 0 || alone || files.size > 1 ? best : undefined;
}

/** A contradiction from a place with less than this share of the best one's score is about something else. */
const CLOSE = 0.8;
