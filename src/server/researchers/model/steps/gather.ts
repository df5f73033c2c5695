import { ResearchFailure, type ResearchNews } from "../../researcher.js";
import type { Source } from "../../sources/source.js";
import type { Fact } from "../facts.js";
import {
  knownInput,
  NOTES,
  PLAN,
  type Prompt,
  planInput,
  requoteInput,
  type Section,
  sectionInput,
} from "../prompts.js";
import { type BudgetLimits, BudgetSpent } from "../session/budget.js";
import { ContextExceeded, UnreadableReply } from "../session/sender.js";
import { LEAST_OUTPUT, type ModelSession, type Task } from "../session/session.js";
import { factOf, type Note } from "./quoting.js";
import { readNotes, readPlan } from "./readings.js";
import { SectionQueue } from "./section-queue.js";

/** What was found for a question. */
export interface Findings {
  facts: Fact[];
  /** The sub-questions, and whether the facts answer them. */
  parts: { question: string; isOpen: boolean }[];
  /** How many quotes did not stand in their source. */
  droppedQuotes: number;
  /** The limit that ended the search early. */
  spent: keyof BudgetLimits | undefined;
  /** Whether the endpoint seems to have cut off what it was sent. */
  isContextCut: boolean;
}

/** Reading ends when this many rounds, one after the other, have brought no new fact. */
const EMPTY_ROUNDS = 2;
/** Of the budget, kept for the writing. */
const FOR_WRITING = 0.25;
/** Kept by the plan, for notes and writing. */
const FOR_THE_REST = 0.6;
/** Limits of the output, in tokens. Some models think aloud before they write, and that counts. */
const PLAN_TOKENS = 3_000;
const NOTES_TOKENS = 8_000;
/** What the sections of one request have at most and, after it was too much for the model, at least, in bytes. */
const MAX_BYTES = 24_000;
const LEAST_BYTES = 1_500;
/** What the marks around one section may take, in bytes. */
const BESIDE_BYTES = 300;

export type Step = NonNullable<ResearchNews["progress"]>["step"];
/** Told how far the research is; `pages` is the number of documents that were opened. */
export type Tell = (step: Step, done: number, of: number, pages: number) => void;

/**
 * Plans, searches, opens whole sections and has the model note facts, each time with the facts known so far and what is
 * still open, until the question is answered, nothing new comes, or the budget is spent.
 */
export async function gather(
  session: ModelSession,
  source: Source,
  question: string,
  tell: Tell,
): Promise<Findings> {
  const gathering = new Gathering(session, source, question, tell);
  try {
    await gathering.run();
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    gathering.findings.spent = error.what;
  }
  return { ...gathering.findings, isContextCut: session.isContextCut };
}

class Gathering {
  readonly findings: Omit<Findings, "isContextCut"> = {
    facts: [],
    parts: [],
    droppedQuotes: 0,
    spent: undefined,
  };
  readonly #queue: SectionQueue;
  #maxBytes = MAX_BYTES;
  #unreadable: UnreadableReply | undefined;
  constructor(
    private readonly session: ModelSession,
    private readonly source: Source,
    private readonly question: string,
    private readonly tell: Tell,
  ) {
    this.#queue = new SectionQueue(source, session);
  }

  async run(): Promise<void> {
    this.#say("plan", 0, 1);
    await this.#search([this.question, ...(await this.#plan())]);
    for (let empty = 0, round = 1; empty < EMPTY_ROUNDS && !this.#queue.isEmpty; round++) {
      const before = this.findings.facts.length;
      const queries = await this.#round(round === 1);
      if (queries.length > 0) await this.#search(queries);
      empty = this.findings.facts.length > before ? 0 : empty + 1;
      const isOpen = this.findings.parts.some((part) => part.isOpen);
      if (queries.length === 0 && !isOpen) break;
    }
    if (this.findings.facts.length === 0 && this.#unreadable !== undefined) throw this.#unreadable;
  }

  /** The queries of the plan. Without a readable one, or if the budget has no room for it, the question is the plan. */
  async #plan(): Promise<string[]> {
    const fallback = [{ question: this.question, queries: [] }];
    const input = planInput(this.question, await this.session.interruptible(this.source.describe()));
    const task = this.#task(PLAN, input, PLAN_TOKENS, FOR_THE_REST, 2);
    const parts = await this.session
      .ask(task, (reply) => readPlan(reply, this.question))
      .catch((error: unknown) => {
        const isOptional =
          error instanceof UnreadableReply || (error instanceof BudgetSpent && error.what !== "ms");
        if (isOptional) return fallback;
        throw error;
      });
    this.findings.parts = parts.map(({ question }) => ({ question, isOpen: true }));
    return parts.flatMap(({ queries }) => queries);
  }

  #search(queries: readonly string[]): Promise<void> {
    return this.#queue.search(queries, (done, of) => this.#say("search", done, of));
  }

  /** Shows the model the next sections and takes over what it notes. Resolves with the queries that it asks for. */
  async #round(isFirst: boolean): Promise<string[]> {
    const known = knownInput({ question: this.question, ...this.findings });
    const room = this.session.room(this.#notes(known, isFirst));
    const bytes = Math.min(room, this.#maxBytes);
    if (bytes <= BESIDE_BYTES) throw new BudgetSpent("tokens");
    const sections = await this.#queue.next(bytes - BESIDE_BYTES, () => {
      const { read, waiting } = this.#queue.counts;
      this.#say("read", read, read + waiting);
    });
    if (sections.length === 0) return [];
    const shown = sections.map((section, i) => sectionInput(section, i + 1));
    const { read, waiting } = this.#queue.counts;
    this.#say("note", read, read + waiting);
    try {
      const task = this.#notes([known, ...shown].join("\n\n"), isFirst);
      const { notes, answered, queries } = await this.session.ask(task, readNotes);
      if (this.session.isContextCut) this.#maxBytes = MAX_BYTES / 2;
      await this.#take(notes, sections);
      for (const number of answered) {
        const part = this.findings.parts[number - 1];
        if (part !== undefined) part.isOpen = false;
      }
      // A model that says nothing of the parts has answered them if it asks for nothing more.
      if (queries.length === 0 && answered.length === 0 && this.findings.facts.length > 0)
        for (const part of this.findings.parts) part.isOpen = false;
      return queries;
    } catch (error) {
      if (error instanceof UnreadableReply) {
        this.#unreadable = error;
        return [];
      }
      if (!(error instanceof ContextExceeded)) throw error;
      this.#maxBytes = Math.floor(this.#maxBytes / 2);
      if (this.#maxBytes < LEAST_BYTES) {
        throw new ResearchFailure(
          `The context of the model is too short for its sources (${error.message}).`,
        );
      }
      this.#queue.putBack(sections, this.#maxBytes);
      return this.#round(isFirst);
    }
  }

  /** Keeps the notes whose quotes stand; for the others the model is asked once more. */
  async #take(notes: readonly Note[], sections: readonly Section[]): Promise<void> {
    const missed = this.#keep(notes, sections);
    const known = missed.flatMap((note) => {
      const section = sections[note.source - 1];
      return section === undefined ? [] : [{ ...note, section }];
    });
    this.findings.droppedQuotes += missed.length;
    if (known.length === 0) return;
    const mended = await this.session
      .ask(this.#notes(requoteInput(this.question, known), false), readNotes)
      .catch((error: unknown) => {
        if (error instanceof UnreadableReply || error instanceof ContextExceeded) return { notes: [] };
        throw error;
      });
    const asked = mended.notes.slice(0, known.length);
    const stillMissed = this.#keep(
      asked,
      known.map(({ section }) => section),
    );
    this.findings.droppedQuotes -= asked.length - stillMissed.length;
  }

  /** Keeps what stands in its source, and gives back the rest. */
  #keep(notes: readonly Note[], sections: readonly Section[]): Note[] {
    return notes.filter((note) => {
      const named = sections[note.source - 1];
      // A model that takes one source's number for another's has still copied what stands there.
      const fact = [named, ...sections].flatMap((section) => (section && factOf(note, section)) ?? [])[0];
      if (fact !== undefined && !this.findings.facts.some((known) => isSame(known, fact)))
        this.findings.facts.push(fact);
      return fact === undefined;
    });
  }

  #notes(input: string, isFirst: boolean): Task {
    const { left } = this.session.budget;
    const affordable = Math.floor((left.tokens - this.session.budget.limits.tokens * FOR_WRITING) / 4);
    const output = Math.max(LEAST_OUTPUT, Math.min(NOTES_TOKENS, affordable));
    // Without notes there is nothing to write, so the first ones may take the last call.
    return this.#task(NOTES, input, output, FOR_WRITING, isFirst ? 0 : 1);
  }

  #task(prompt: Prompt, input: string, outputTokens: number, part: number, calls: number): Task {
    return { ...prompt, input, outputTokens, keep: this.session.budget.share(part, calls) };
  }

  #say(step: Step, done: number, of: number): void {
    this.tell(step, done, of, this.#queue.counts.documents);
  }
}

function isSame(a: Fact, b: Fact): boolean {
  return a.document.id === b.document.id && a.line === b.line && a.quote === b.quote;
}
