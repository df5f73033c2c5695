import type { Progress } from "../../../core/researcher.js";
import { BudgetExceededError } from "../../model/session/model-budget.js";
import {
  ContextExceededError,
  LEAST_OUTPUT,
  type ModelSession,
  type Task,
  UnreadableReplyError,
} from "../../model/session/model-session.js";
import type { Opened, Source } from "../../searching/source.js";
import {
  buildKnownInput,
  buildPlanInput,
  buildRequoteInput,
  buildSectionInput,
  NOTES,
  type Note,
  type Part,
  PLAN,
  readNotes,
  readPlan,
} from "../prompts.js";
import { buildFact, type Fact } from "../quoted-facts.js";
import { SectionQueue } from "./section-queue.js";

/** What the search for a question found. */
export interface GatheredFacts {
  facts: Fact[];
  parts: Part[];
  /** How many quotes were not found in their source. */
  droppedQuotes: number;
  /** The limit that ended the search early. */
  spent: BudgetExceededError | undefined;
  /** Whether the endpoint seems to have truncated its input. */
  isContextCut: boolean;
}

/** The search ends after this many consecutive rounds without a new fact. */
const EMPTY_ROUNDS = 2;
/** The share of the budget that is reserved for writing. */
const FOR_WRITING = 0.25;
/** The share of the budget that planning leaves for notes and writing. */
const FOR_THE_REST = 0.6;
/** Output limits, in tokens, including the reasoning that some models write before their reply. */
const PLAN_TOKENS = 3_000;
const NOTES_TOKENS = 8_000;
/** The most text of sections in one request, in bytes; it is halved when the model's context is exceeded, down to LEAST_BYTES. */
const MAX_BYTES = 24_000;
const LEAST_BYTES = 1_500;
/** An allowance for the lines around one section, in bytes. */
const BESIDE_BYTES = 300;

/**
 * Plans, searches, opens whole sections and has the model note facts. Repeats this until the question is answered, no new
 * fact is found, or the budget is spent. `tell` is called with the progress.
 */
export async function gatherFacts(
  session: ModelSession,
  source: Source,
  question: string,
  tell: (progress: Partial<Progress>) => void,
): Promise<GatheredFacts> {
  const { budget } = session;
  const queue = new SectionQueue(source, tell);
  const facts: Fact[] = [];
  let parts: Part[] = [];
  let droppedQuotes = 0;
  let maxBytes = MAX_BYTES;
  let unreadable: UnreadableReplyError | undefined;
  let spent: BudgetExceededError | undefined;
  try {
    tell({ step: "plan", done: 0, of: 1 });
    await queue.search([question, ...(await plan())]);
    for (let empty = 0, isFirst = true; empty < EMPTY_ROUNDS && !queue.isEmpty; isFirst = false) {
      const before = facts.length;
      const queries = await round(isFirst);
      await queue.search(queries);
      empty = facts.length > before ? 0 : empty + 1;
      if (queries.length === 0 && !parts.some(({ isOpen }) => isOpen)) break;
    }
    if (facts.length === 0 && unreadable !== undefined) throw unreadable;
  } catch (error) {
    if (!(error instanceof BudgetExceededError)) throw error;
    spent = error;
  }
  return { facts, parts, droppedQuotes, spent, isContextCut: session.isContextCut };

  /** Returns the plan's queries. Returns none if the plan is unreadable or the budget has no room for it. */
  async function plan(): Promise<string[]> {
    const input = buildPlanInput(question, await source.describe());
    const keep = budget.share(FOR_THE_REST, 3);
    const planned = await session
      .ask({ ...PLAN, input, outputTokens: PLAN_TOKENS, keep }, (reply) => readPlan(reply, question))
      .catch((error: unknown) => {
        const isOptional =
          error instanceof UnreadableReplyError ||
          (error instanceof BudgetExceededError && error.what !== "ms");
        if (isOptional) return [{ question, queries: [] }];
        throw error;
      });
    parts = planned.map((part) => ({ question: part.question, isOpen: true }));
    return planned.flatMap(({ queries }) => queries);
  }

  /** Shows the model the next sections and keeps its notes. Returns the queries that the model requests. */
  async function round(isFirst: boolean): Promise<string[]> {
    const input = buildKnownInput(question, parts, facts);
    const bytes = Math.min(session.measureRoom(buildNoteTask(input, isFirst)), maxBytes);
    if (bytes <= BESIDE_BYTES) throw new BudgetExceededError("tokens");
    const sections = await queue.takeNext(bytes - BESIDE_BYTES);
    if (sections.length === 0) return [];
    const shown = sections.map((section, i) => buildSectionInput(section, i + 1));
    queue.say("note");
    try {
      const task = buildNoteTask([input, ...shown].join("\n\n"), isFirst);
      const { facts: notes, answered, queries } = await session.ask(task, readNotes);
      if (session.isContextCut) maxBytes = MAX_BYTES / 2;
      await take(notes, sections);
      // If the model requests nothing more and mentions no part, count all parts as answered.
      const isAll = queries.length === 0 && answered.length === 0 && facts.length > 0;
      for (const [i, part] of parts.entries()) if (isAll || answered.includes(i + 1)) part.isOpen = false;
      return queries;
    } catch (error) {
      if (error instanceof UnreadableReplyError) {
        unreadable = error;
        return [];
      }
      maxBytes = Math.floor(maxBytes / 2);
      if (!(error instanceof ContextExceededError) || maxBytes < LEAST_BYTES) throw error;
      queue.putBack(sections, maxBytes);
      return round(isFirst);
    }
  }

  /** Keeps the notes whose quotes are in their sources. Asks the model once more for the other quotes. */
  async function take(notes: readonly Note[], sections: readonly Opened[]): Promise<void> {
    const missed = keep(notes, sections);
    const facts = missed.flatMap((note) => {
      const section = sections[note.source - 1];
      return section === undefined ? [] : [{ ...note, section }];
    });
    droppedQuotes += missed.length;
    if (facts.length === 0) return;
    const mended = await session
      .ask(buildNoteTask(buildRequoteInput(question, facts), false), readNotes)
      .catch((error: unknown) => {
        if (error instanceof UnreadableReplyError || error instanceof ContextExceededError)
          return { facts: [] };
        throw error;
      });
    const asked = mended.facts.slice(0, facts.length);
    const shown = facts.map(({ section }) => section);
    droppedQuotes -= asked.length - keep(asked, shown).length;
  }

  /** Keeps the notes whose quotes are in a shown section, and returns the others. */
  function keep(notes: readonly Note[], sections: readonly Opened[]): Note[] {
    return notes.filter((note) => {
      const named = sections[note.source - 1];
      // Also search the other sections, because a model may confuse their numbers and still copy a quote correctly.
      const fact = [named, ...sections].flatMap((section) => (section && buildFact(note, section)) ?? [])[0];
      if (fact !== undefined && !facts.some((earlier) => isSameQuestion(earlier, fact))) facts.push(fact);
      return fact === undefined;
    });
  }

  function buildNoteTask(input: string, isFirst: boolean): Task {
    const affordable = Math.floor((budget.left.tokens - budget.limits.tokens * FOR_WRITING) / 4);
    const outputTokens = Math.max(LEAST_OUTPUT, Math.min(NOTES_TOKENS, affordable));
    // The first round may use the last call, because without notes there is nothing to write.
    return { ...NOTES, input, outputTokens, keep: budget.share(FOR_WRITING, isFirst ? 0 : 2) };
  }
}

function isSameQuestion(a: Fact, b: Fact): boolean {
  return a.document.id === b.document.id && a.line === b.line && a.quote === b.quote;
}
