import { ResearchFailure } from "../../researcher.js";
import type { Passage, Source } from "../../sources/source.js";
import type { Fact } from "../facts.js";
import {
  NOTES,
  notesInput,
  PLAN,
  type Prompt,
  questionInput,
  requoteInput,
  sourceInput,
} from "../prompts.js";
import { type BudgetLimits, BudgetSpent } from "../session/budget.js";
import { ContextExceeded } from "../session/sender.js";
import { LEAST_OUTPUT, type ModelSession, type Task } from "../session/session.js";
import { PassageQueue } from "./passage-queue.js";
import { factOf, type Note } from "./quoting.js";
import { readNotes, readPlan } from "./readings.js";

/** What was found for a question. */
export interface Findings {
  facts: Fact[];
  /** How many quotes did not stand in their source. */
  droppedQuotes: number;
  /** How many passages the model was shown. */
  passages: number;
  /** The limit that ended the search early. */
  spent: keyof BudgetLimits | undefined;
  /** Whether the endpoint seems to have cut off what it was sent. */
  isContextCut: boolean;
}

const ROUNDS = 3;
/** Of the budget, kept for the writing. */
const FOR_WRITING = 0.25;
/** Kept by the plan, for notes and writing. */
const FOR_THE_REST = 0.6;
/** Limits of the output, in tokens. Some models think aloud before they write, and that counts. */
const PLAN_TOKENS = 3_000;
const NOTES_TOKENS = 8_000;
/** What the passages of one request have at most and, after it was too much for the model, at least, in bytes. */
const MAX_BYTES = 24_000;
const LEAST_BYTES = 1_500;
const MAX_FACTS = 40;

/** Searches the sources and has the model note facts, for at most three rounds or as long as the budget lasts. */
export async function gather(session: ModelSession, sources: Source, question: string): Promise<Findings> {
  const gathering = new Gathering(session, sources, question);
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
    droppedQuotes: 0,
    passages: 0,
    spent: undefined,
  };
  readonly #queue: PassageQueue;
  #maxBytes = MAX_BYTES;
  constructor(
    private readonly session: ModelSession,
    private readonly sources: Source,
    private readonly question: string,
  ) {
    this.#queue = new PassageQueue(sources, session);
  }

  async run(): Promise<void> {
    await this.#queue.search([this.question, ...(await this.#plan())]);
    for (let round = 0; round < ROUNDS; round++) {
      const queries = await this.#round(round === 0);
      if (queries.length > 0) await this.#queue.search(queries);
      if (queries.length === 0 || this.findings.facts.length >= MAX_FACTS) return;
    }
  }

  /** Further queries; none where the budget is too small for a plan: the question itself is one. */
  async #plan(): Promise<string[]> {
    const input = questionInput(this.question);
    try {
      return await this.session.ask(this.#task(PLAN, input, PLAN_TOKENS, FOR_THE_REST, 2), readPlan);
    } catch (error) {
      if (error instanceof BudgetSpent && error.what !== "ms") return [];
      throw error;
    }
  }

  /** Shows the model the next passages and takes over what it notes. Resolves with the queries it asks for. */
  async #round(isFirst: boolean): Promise<string[]> {
    const passages = this.#next(isFirst);
    if (passages.length === 0) return [];
    try {
      const task = this.#notes(notesInput(this.question, passages), isFirst);
      const { notes, queries } = await this.session.ask(task, readNotes);
      this.findings.passages += passages.length;
      if (this.session.isContextCut) this.#maxBytes = MAX_BYTES / 2;
      await this.#take(notes, passages);
      return queries;
    } catch (error) {
      if (!(error instanceof ContextExceeded)) throw error;
      this.#maxBytes = Math.floor(this.#maxBytes / 2);
      if (this.#maxBytes < LEAST_BYTES) {
        throw new ResearchFailure(
          `The context of the model is too short for its sources (${error.message}).`,
        );
      }
      this.#queue.putBack(passages);
      return this.#round(isFirst);
    }
  }

  /** The next passages that fit into one request. */
  #next(isFirst: boolean): Passage[] {
    const room = this.session.room(this.#notes(questionInput(this.question), isFirst));
    const passages = this.#queue.next(Math.min(room, this.#maxBytes), (passage, i) =>
      sourceInput(passage, i + 1),
    );
    if (passages.length === 0 && !this.#queue.isEmpty) throw new BudgetSpent("tokens");
    return passages;
  }

  /** Keeps the notes whose quotes stand; for the others the model is asked once more. */
  async #take(notes: readonly Note[], passages: readonly Passage[]): Promise<void> {
    const missed = await this.#keep(notes, passages);
    const known = missed.flatMap((note) => {
      const passage = passages[note.source - 1];
      return passage === undefined ? [] : [{ ...note, passage }];
    });
    this.findings.droppedQuotes += missed.length;
    if (known.length === 0) return;
    const task = this.#notes(requoteInput(this.question, known), false);
    const mended = await this.session.ask(task, readNotes);
    const asked = mended.notes.slice(0, known.length);
    const stillMissed = await this.#keep(
      asked,
      known.map(({ passage }) => passage),
    );
    this.findings.droppedQuotes -= asked.length - stillMissed.length;
  }

  /** Keeps what stands in its source, and gives back the rest. */
  async #keep(notes: readonly Note[], passages: readonly Passage[]): Promise<Note[]> {
    const missed: Note[] = [];
    for (const note of notes) {
      const passage = passages[note.source - 1];
      const fact = passage && (await factOf(note, passage, this.sources));
      if (fact === undefined) missed.push(note);
      else if (!this.findings.facts.some((known) => isSame(known, fact))) this.findings.facts.push(fact);
    }
    return missed;
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
}

function isSame(a: Fact, b: Fact): boolean {
  return a.file === b.file && a.line === b.line && a.quote === b.quote;
}
