import { checkValue, problemText } from "../../../../json-schema/check.js";
import type { JsonSchema } from "../../../../protocol/conversation.js";
import { ResearchFailure } from "../../researcher.js";
import { type Cited, checkSentence } from "../checks/sentence.js";
import { namesIn, unfounded } from "../checks/structured.js";
import type { Fact } from "../facts.js";
import { ANSWER, factInput, factsInput, type Prompt, questionInput, resultPrompt } from "../prompts.js";
import { BudgetSpent } from "../session/budget.js";
import { ContextExceeded } from "../session/sender.js";
import type { ModelSession, Task } from "../session/session.js";
import { readAnswer } from "./readings.js";

/** The sentences of an answer, each checked. */
export interface Answer {
  sentences: Cited[];
  /** How many sentences of the model were left out. */
  droppedSentences: number;
  /** Whether the model wrote it; else it is made of the facts. */
  isWritten: boolean;
}

/** Some models think aloud before they write, and that counts. */
const OUTPUT_TOKENS = 6_000;

/** Has the model answer from the facts. Where the budget does not allow that, the facts are the answer. */
export async function writeAnswer(
  session: ModelSession,
  question: string,
  facts: readonly Fact[],
): Promise<Answer> {
  try {
    const shown = fitting(session, ANSWER, question, facts);
    const sentences = await session.ask(taskFor(session, ANSWER, factsInput(question, shown)), readAnswer);
    const quotes = facts.map(({ quote }) => quote);
    const kept = sentences.flatMap((sentence) => checkSentence(sentence, quotes, question) ?? []);
    const droppedSentences = sentences.length - kept.length;
    if (kept.length > 0 || sentences.length === 0)
      return { sentences: kept, droppedSentences, isWritten: true };
    return { ...factsAnswer(question, facts), droppedSentences };
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof ContextExceeded) return factsAnswer(question, facts);
    throw error;
  }
}

/** The facts as an answer: each claim whose numbers stand in its quote, else the quote itself. */
export function factsAnswer(question: string, facts: readonly Fact[]): Answer {
  const quotes = facts.map(({ quote }) => quote);
  const sentences = facts.map(({ claim, quote }, i): Cited => {
    const own = { text: claim, facts: [i + 1] };
    // A claim may name other facts by their numbers; only its own quote was found for it.
    const checked = checkSentence(own, quotes, question);
    return checked?.facts.length === 1 ? checked : { text: quote.replace(/\s+/g, " "), facts: [i + 1] };
  });
  return { sentences, droppedSentences: 0, isWritten: false };
}

/**
 * Has the model fill the client's schema from the facts. Throws a ResearchFailure if a string or number of the result
 * stands in no quote, also when asked once more.
 */
export async function writeResult(
  session: ModelSession,
  question: string,
  facts: readonly Fact[],
  schema: JsonSchema,
): Promise<unknown> {
  const prompt = resultPrompt(schema);
  const names = namesIn(schema);
  const quotes = facts.map(({ quote }) => quote);
  const shown = fitting(session, prompt, question, facts);
  return session.ask(taskFor(session, prompt, factsInput(question, shown)), async (value) => {
    const problem = await checkValue(schema, JSON.stringify(value));
    if (problem) return { wrong: `it does not fit the schema: ${problemText(problem, "the top level")}` };
    const missing = unfounded(value, quotes, names);
    return missing === undefined ? { value } : { wrong: `${missing} stands in no quote` };
  });
}

/** As many facts, from the first, as the budget allows to show. */
function fitting(session: ModelSession, prompt: Prompt, question: string, facts: readonly Fact[]): Fact[] {
  let room = session.room({ ...taskFor(session, prompt, questionInput(question)), outputTokens: 0 });
  // A part of what is left is for the reply.
  room -= Math.min(OUTPUT_TOKENS, room / 3);
  const shown: Fact[] = [];
  for (const fact of facts) {
    room -= Buffer.byteLength(JSON.stringify(factInput(fact, shown.length + 1))) + 2;
    if (room < 0) break;
    shown.push(fact);
  }
  if (shown.length === 0) throw new BudgetSpent("tokens");
  return shown;
}

function taskFor({ budget }: ModelSession, prompt: Prompt, input: string): Task {
  return { ...prompt, input, outputTokens: OUTPUT_TOKENS, keep: budget.share(0, 0) };
}

/** For a structured result that could not be written. */
export function noResult(why: string): ResearchFailure {
  return new ResearchFailure(`There is no structured result: ${why}.`);
}
