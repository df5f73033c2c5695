import { type Fact, groundOf } from "../facts.js";
import type { Cited, Draft, HeldSentence } from "../prompts.js";
import { checkSentence, findUngrounded, readStep } from "./sentence.js";

/** An answer of which every sentence, item and row was checked. Its sentences are the summary. */
export interface Answer extends Draft {
  /** How many sentences, items and rows of the model were left out. */
  dropped: number;
  /** How many lists of steps were left out, each whole. */
  droppedSteps: number;
  /** Whether the model wrote it; else it is made of the facts. */
  isWritten: boolean;
  /** Whether it is in another language than the question. */
  isForeign: boolean;
}

/** How many sentences a summary has at most. */
const SUMMARY = 5;
/** How much of what is wrong is shown of each text, in characters. */
const SHOWN = 120;

/**
 * What of a draft or of an answer can stand, and what is wrong with the rest, a phrase for each. `checkOne`: of a sentence, item or row;
 * it gives it back as it may be shown, or what is wrong with it.
 */
export function checkAnswer(
  draft: Draft & Partial<Answer>,
  facts: readonly Fact[],
  question: string,
  checkOne: (cited: Cited) => Cited | { wrong: string } = (cited) => checkSentence(cited, facts, question),
): { answer: Answer; wrong: string[] } {
  const wrong: string[] = [];
  let { droppedSteps = 0 } = draft;
  const check = (cited: Cited): Cited[] => {
    const checked = checkOne(cited);
    if (!("wrong" in checked)) return [checked];
    wrong.push(`${JSON.stringify(cited.text.slice(0, SHOWN))}: ${checked.wrong}`);
    return [];
  };
  /** `text` on one line; empty if it says what `items` do not cite. */
  const findTitle = (text: string, items: readonly Cited[]) => {
    const cited = items.flatMap((item) => item.facts.flatMap((id) => facts[id - 1] ?? []));
    const isGrounded = findUngrounded(text, [question, ...cited.map(groundOf)]) === undefined;
    return isGrounded ? text.replace(/\s+/g, " ").trim() : "";
  };
  const { sentences, steps } = separateSteps(draft.sentences);
  const summary = sentences.flatMap(check);
  const more = { title: "", kind: "text" as const, columns: [], items: summary.slice(SUMMARY) };
  const sections = [...steps, more, ...draft.sections].flatMap(({ title, kind, columns, items }) => {
    const before = wrong.length;
    const standing = items.flatMap(check);
    // One step that is missing makes the others wrong.
    const isBroken = kind === "steps" && wrong.length > before;
    if (isBroken) droppedSteps += 1;
    if (isBroken || standing.length === 0) return [];
    const isTable = kind === "table" && columns.length > 1 && findTitle(columns.join("; "), standing) !== "";
    return {
      title: findTitle(title, standing),
      kind: kind === "table" && !isTable ? "list" : kind,
      columns: isTable ? columns.map((column) => column.replace(/[\s|]+/g, " ").trim()) : [],
      items: standing,
    };
  });
  const disagree = draft.disagree.flatMap(({ about, sides }) => {
    const standing = sides.flatMap(check);
    // With one side there is nothing that disagrees.
    return standing.length < 2 ? [] : { about: findTitle(about, standing), sides: standing };
  });
  // What is missing claims nothing.
  const checked = { ...draft, sentences: summary.slice(0, SUMMARY), sections, disagree };
  const dropped = (draft.dropped ?? 0) + wrong.length;
  return { answer: { isWritten: true, isForeign: false, ...checked, dropped, droppedSteps }, wrong };
}

/** The facts as an answer in place of another one: each claim that can stand on its own quote, else the quote itself. */
export function buildFactsAnswer(
  facts: readonly Fact[],
  question: string,
  { words = {}, dropped = 0, droppedSteps = 0 }: Partial<Answer> = {},
): Answer {
  const items = facts.map(({ claim, quote }, i): Cited => {
    const checked = checkSentence({ text: claim, facts: [i + 1] }, facts, question);
    // A claim may name other facts by their numbers; only its own quote was found for it.
    const isProven = !("wrong" in checked) && checked.facts.length === 1;
    return isProven ? checked : { text: quote.replace(/\s+/g, " "), facts: [i + 1] };
  });
  const nothing = { sentences: [], disagree: [], missing: [], words, dropped, droppedSteps };
  const sections = [{ title: "", kind: "list" as const, columns: [], items }];
  return { ...nothing, sections, isWritten: false, isForeign: false };
}

/** Everything in an answer that cites. */
export function listCited(answer: Answer): Cited[] {
  return listHeld(answer).map(({ sentence }) => sentence);
}

/** The same with what stands over each. */
export function listHeld({ sentences, sections, disagree }: Answer): HeldSentence[] {
  const prefixUnder = (items: readonly Cited[], ...over: string[]) =>
    items.map((sentence) => ({ sentence, under: over.filter(Boolean).join(": ") }));
  return [
    ...prefixUnder(sentences),
    ...sections.flatMap(({ title, columns, items }) => prefixUnder(items, title, columns.join(" | "))),
    ...disagree.flatMap(({ about, sides }) => prefixUnder(sides, about)),
  ];
}

/** Sentences that are numbered are steps; what stands between and after them belongs to the one before it. */
function separateSteps(sentences: Cited[]): { sentences: Cited[]; steps: Answer["sections"] } {
  const first = sentences.findIndex(({ text }) => readStep(text) === 1);
  const numbered = sentences.slice(Math.max(0, first)).filter(({ text }) => readStep(text) !== undefined);
  if (first < 0 || numbered.length < 2) return { sentences, steps: [] };
  const items = sentences
    .slice(first)
    .map((cited) => ({ ...cited, ...(readStep(cited.text) === undefined && { goesOn: true }) }));
  return { sentences: sentences.slice(0, first), steps: [{ title: "", kind: "steps", columns: [], items }] };
}
