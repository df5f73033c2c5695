import { checkValue, problemText } from "../../../../json-schema/check.js";
import type { JsonSchema } from "../../../../protocol/conversation.js";
import { languageOf } from "../../sources/language.js";
import { type Answer, checkAnswer, citedIn, factsAnswer } from "../checks/answer.js";
import { holds, propertyNamesIn, unfounded, without } from "../checks/structured.js";
import type { Fact } from "../facts.js";
import {
  answerPrompt,
  factInput,
  factsInput,
  type Length,
  type Prompt,
  questionInput,
  readAnswer,
  resultPrompt,
} from "../prompts.js";
import { BudgetSpent } from "../session/budget.js";
import { ContextExceeded, type ModelSession, type Task, UnreadableReply } from "../session/session.js";
import type { Gathered } from "./gather.js";

/** Some models think aloud before they write, and that counts. In tokens. */
const OUTPUT_TOKENS: Readonly<Record<Length, number>> = { short: 3_000, normal: 6_000, long: 12_000 };

/**
 * Has the model answer from the facts. What cannot stand is asked for once more, with the reason. Where the budget does
 * not allow an answer, and where none of it can stand, the facts are the answer.
 */
export async function writeAnswer(
  session: ModelSession,
  question: string,
  { facts, parts }: Gathered,
  length: Length,
): Promise<Answer> {
  const asked = parts.map((part) => part.question);
  const language = languageOf(question);
  let best: Answer | undefined;
  try {
    const task = taskFor(session, answerPrompt(length), question, asked, facts, OUTPUT_TOKENS[length]);
    await session.ask(task, (reply, isLast) => {
      const draft = readAnswer(reply);
      if ("wrong" in draft) return draft;
      const { answer, wrong } = checkAnswer(draft.value, facts, question);
      const cited = citedIn(answer);
      const written = languageOf(cited.map(({ text }) => text).join(" "));
      answer.isForeign = language !== undefined && written !== undefined && written !== language;
      if (answer.isForeign) wrong.push(`it is not written in the language of the question (${language})`);
      if (best === undefined || cited.length >= citedIn(best).length) best = answer;
      return wrong.length === 0 || isLast ? { value: best } : { wrong: wrong.join("; ") };
    });
  } catch (error) {
    const known = [BudgetSpent, ContextExceeded, UnreadableReply];
    if (!known.some((kind) => error instanceof kind)) throw error;
  }
  if (best !== undefined && (citedIn(best).length > 0 || best.dropped === 0)) return best;
  const { dropped = 0, droppedSteps = 0 } = best ?? {};
  return { ...factsAnswer(facts, question), dropped, droppedSteps };
}

/**
 * Has the model fill the client's schema from the facts. Strings and numbers that stand in no quote are left out at
 * last where the schema allows it; else it throws a ResearchFailure that names them.
 */
export async function writeResult(
  session: ModelSession,
  question: string,
  facts: readonly Fact[],
  schema: JsonSchema,
): Promise<{ value: unknown; leftOut: string[] }> {
  const names = propertyNamesIn(schema);
  const quotes = facts.map(({ quote }) => quote);
  const task = taskFor(session, resultPrompt(schema), question, [], facts, OUTPUT_TOKENS.normal);
  const problemOf = (value: unknown) => checkValue(schema, JSON.stringify(value));
  return session.ask<{ value: unknown; leftOut: string[] }>(task, async (value, isLast) => {
    const problem = await problemOf(value);
    const missing = unfounded(value, quotes, names);
    if (problem === undefined && missing.length === 0) return { value: { value, leftOut: [] } };
    const kept = isLast ? without(value, missing) : undefined;
    if (quotes.some((quote) => holds(quote, kept)) && (await problemOf(kept)) === undefined)
      return { value: { value: kept, leftOut: missing.map(({ shown }) => shown) } };
    const wrong = missing.map(({ shown }) => `${shown} stands in no quote`);
    if (problem) wrong.unshift(`it does not fit the schema: ${problemText(problem, "the top level")}`);
    return { wrong: wrong.join("; ") };
  });
}

/** To write from as many facts, from the first, as the budget allows to show. */
function taskFor(
  session: ModelSession,
  prompt: Prompt,
  question: string,
  parts: readonly string[],
  facts: readonly Fact[],
  outputTokens: number,
): Task {
  const task = { ...prompt, outputTokens, keep: session.budget.share(0, 0) };
  let room = session.room({ ...task, input: questionInput(question), outputTokens: 0 });
  // A part of what is left is for the reply.
  room -= Math.min(session.budget.bytesFor(outputTokens), room / 3);
  const shown: Fact[] = [];
  for (const fact of facts) {
    room -= Buffer.byteLength(JSON.stringify(factInput(fact, shown.length + 1))) + 2;
    if (room < 0) break;
    shown.push(fact);
  }
  if (shown.length === 0) throw new BudgetSpent("tokens");
  return { ...task, input: factsInput(question, parts, shown) };
}
