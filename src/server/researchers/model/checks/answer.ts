import { type Fact, groundOf } from "../facts.js";
import type { Draft } from "../steps/readings.js";
import { type Cited, checkSentence, stepOf, ungrounded } from "./sentence.js";

/** A part of the answer. An item that `goesOn` belongs to the step before it. */
export interface AnswerSection {
  title: string;
  kind: Draft["sections"][number]["kind"];
  columns: string[];
  items: (Cited & { goesOn?: boolean })[];
}

/** An answer of which every sentence, item and row was checked. */
export interface Answer {
  /** The summary. */
  sentences: Cited[];
  sections: AnswerSection[];
  disagree: { about: string; sides: Cited[] }[];
  missing: string[];
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

/** What of a draft can stand, and what is wrong with the rest, a phrase for each. */
export function checkAnswer(
  draft: Draft,
  facts: readonly Fact[],
  question: string,
): { answer: Answer; wrong: string[] } {
  const wrong: string[] = [];
  const answer: Answer = { ...emptyAnswer(), isWritten: true };
  const check = (cited: AnswerSection["items"][number]): AnswerSection["items"] => {
    const checked = checkSentence(cited, facts, question);
    if (!("wrong" in checked)) return [{ ...checked, ...(cited.goesOn && { goesOn: true }) }];
    answer.dropped += 1;
    wrong.push(`${JSON.stringify(cited.text.slice(0, SHOWN))}: ${checked.wrong}`);
    return [];
  };
  const groundsOf = (items: readonly Cited[]) => [
    question,
    ...items.flatMap((item) => item.facts.flatMap((id) => facts[id - 1] ?? []).map(groundOf)),
  ];
  const { sentences, steps } = withoutSteps(draft.sentences);
  const kept = sentences.flatMap(check);
  answer.sentences = kept.slice(0, SUMMARY);
  const more: Draft["sections"] = [{ title: "", kind: "text", columns: [], items: kept.slice(SUMMARY) }];
  for (const { title, kind, columns, items } of [...steps, ...more, ...draft.sections]) {
    const before = wrong.length;
    const standing = items.flatMap(check);
    // One step that is missing makes the others wrong.
    const isBroken = kind === "steps" && wrong.length > before;
    if (isBroken) answer.droppedSteps += 1;
    if (isBroken || standing.length === 0) continue;
    const grounds = groundsOf(standing);
    const isTable =
      kind === "table" && columns.length > 1 && ungrounded(columns.join("; "), grounds) === undefined;
    answer.sections.push({
      title: ungrounded(title, grounds) === undefined ? title.replace(/\s+/g, " ").trim() : "",
      kind: kind === "table" && !isTable ? "list" : kind,
      columns: isTable ? columns : [],
      items: standing,
    });
  }
  for (const { about, sides } of draft.disagree) {
    const standing = sides.flatMap(check);
    // With one side there is nothing that disagrees.
    if (standing.length < 2) continue;
    const title = ungrounded(about, groundsOf(standing)) === undefined ? about : "";
    answer.disagree.push({ about: title.replace(/\s+/g, " ").trim(), sides: standing });
  }
  answer.missing = draft.missing
    .map((text) => text.replace(/\s+/g, " ").trim())
    .filter((text) => text !== "" && ungrounded(text, [question]) === undefined);
  return { answer, wrong };
}

/** The facts as an answer: each claim that can stand on its own quote, else the quote itself. */
export function factsAnswer(facts: readonly Fact[], question: string): Answer {
  const items = facts.map(({ claim, quote }, i): Cited => {
    const checked = checkSentence({ text: claim, facts: [i + 1] }, facts, question);
    // A claim may name other facts by their numbers; only its own quote was found for it.
    const stands = !("wrong" in checked) && checked.facts.length === 1;
    return stands ? checked : { text: quote.replace(/\s+/g, " "), facts: [i + 1] };
  });
  return { ...emptyAnswer(), sections: [{ title: "", kind: "list", columns: [], items }] };
}

/** Every text of an answer that is shown as one of its own. */
export function textsOf({ sentences, sections, disagree }: Answer): string[] {
  const cited = [
    ...sentences,
    ...sections.flatMap(({ items }) => items),
    ...disagree.flatMap(({ sides }) => sides),
  ];
  return cited.map(({ text }) => text);
}

function emptyAnswer(): Answer {
  return {
    sentences: [],
    sections: [],
    disagree: [],
    missing: [],
    dropped: 0,
    droppedSteps: 0,
    isWritten: false,
    isForeign: false,
  };
}

/** Sentences that are numbered are steps; what stands between and after them belongs to the one before it. */
function withoutSteps(sentences: readonly Cited[]): { sentences: readonly Cited[]; steps: AnswerSection[] } {
  const first = sentences.findIndex(({ text }) => stepOf(text) === 1);
  const numbered = sentences.slice(Math.max(0, first)).filter(({ text }) => stepOf(text) !== undefined);
  if (first < 0 || numbered.length < 2) return { sentences, steps: [] };
  const items = sentences
    .slice(first)
    .map((one) => ({ ...one, ...(stepOf(one.text) === undefined && { goesOn: true }) }));
  return { sentences: sentences.slice(0, first), steps: [{ title: "", kind: "steps", columns: [], items }] };
}
