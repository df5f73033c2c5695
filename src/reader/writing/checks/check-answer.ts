import type { Cited, Draft, HeldSentence } from "../prompts.js";
import { type Fact, joinQuotedText } from "../quoted-facts.js";
import { checkSentence, findUngroundedItem, readStepNumber } from "./check-sentence.js";

/** An answer whose sentences, items and rows have all been checked. `sentences` is the summary. */
export interface Answer extends Draft {
  /** How many of the model's sentences, items and rows were left out. */
  dropped: number;
  /** How many lists of steps were left out, each as a whole. */
  droppedSteps: number;
  /** Whether the model wrote the answer; otherwise it was built from the facts. */
  isWritten: boolean;
  /** Whether the answer is in another language than the question. */
  isForeign: boolean;
}

/** The most sentences of a summary. */
const SUMMARY = 5;
/** How much of each rejected text is shown, in characters. */
const SHOWN = 120;

/**
 * Keeps the valid parts of a draft or answer, and returns a phrase about each problem in the others. `checkOne` checks one
 * sentence, item or row: it returns the text to show, or the problem.
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
  /** Returns a title on one line; empty if it states something that neither the question nor the facts of `items` contain. */
  const findTitle = (text: string, items: readonly Cited[]) => {
    const cited = items.flatMap((item) => item.facts.flatMap((id) => facts[id - 1] ?? []));
    const isGrounded = findUngroundedItem(text, [question, ...cited.map(joinQuotedText)]) === undefined;
    return isGrounded ? text.replace(/\s+/g, " ").trim() : "";
  };
  const { sentences, steps } = separateNumberedSteps(draft.sentences);
  const summary = sentences.flatMap(check);
  const more = { title: "", kind: "text" as const, columns: [], items: summary.slice(SUMMARY) };
  const sections = [...steps, more, ...draft.sections].flatMap(({ title, kind, columns, items }) => {
    const before = wrong.length;
    const standing = items.flatMap(check);
    // Without one of its steps, the others are wrong.
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
    // A disagreement needs two sides.
    return standing.length < 2 ? [] : { about: findTitle(about, standing), sides: standing };
  });
  // The list of gaps stays, because it makes no claims.
  const checked = { ...draft, sentences: summary.slice(0, SUMMARY), sections, disagree };
  const dropped = (draft.dropped ?? 0) + wrong.length;
  return { answer: { isWritten: true, isForeign: false, ...checked, dropped, droppedSteps }, wrong };
}

/** Builds an answer without the model: the claim of each fact if its quote proves the claim, else the quote. */
export function buildFactsAnswer(
  facts: readonly Fact[],
  question: string,
  { dropped = 0, droppedSteps = 0 }: Partial<Answer> = {},
): Answer {
  const items = facts.map(({ claim, quote }, i): Cited => {
    const checked = checkSentence({ text: claim, facts: [i + 1] }, facts, question);
    // A claim may cite other facts by number, but only its own quote was found for it.
    const isProven = !("wrong" in checked) && checked.facts.length === 1;
    return isProven ? checked : { text: quote.replace(/\s+/g, " "), facts: [i + 1] };
  });
  const nothing = { sentences: [], disagree: [], missing: [], dropped, droppedSteps };
  const sections = [{ title: "", kind: "list" as const, columns: [], items }];
  return { ...nothing, sections, isWritten: false, isForeign: false };
}

/** Lists all sentences, items, rows and sides of an answer. */
export function listCitedParts(answer: Answer): Cited[] {
  return listPartsToVerify(answer).map(({ sentence }) => sentence);
}

/** Lists all sentences, items, rows and sides of an answer, with the headings above them. */
export function listPartsToVerify({ sentences, sections, disagree }: Answer): HeldSentence[] {
  const prefixUnder = (items: readonly Cited[], ...over: string[]) =>
    items.map((sentence) => ({ sentence, under: over.filter(Boolean).join(": ") }));
  return [
    ...prefixUnder(sentences),
    ...sections.flatMap(({ title, columns, items }) => prefixUnder(items, title, columns.join(" | "))),
    ...disagree.flatMap(({ about, sides }) => prefixUnder(sides, about)),
  ];
}

/** Makes steps of numbered sentences. A sentence between or after them continues the step before it. */
function separateNumberedSteps(sentences: Cited[]): { sentences: Cited[]; steps: Answer["sections"] } {
  const first = sentences.findIndex(({ text }) => readStepNumber(text) === 1);
  const numbered = sentences
    .slice(Math.max(0, first))
    .filter(({ text }) => readStepNumber(text) !== undefined);
  if (first < 0 || numbered.length < 2) return { sentences, steps: [] };
  const items = sentences
    .slice(first)
    .map((cited) => ({ ...cited, ...(readStepNumber(cited.text) === undefined && { goesOn: true }) }));
  return { sentences: sentences.slice(0, first), steps: [{ title: "", kind: "steps", columns: [], items }] };
}
