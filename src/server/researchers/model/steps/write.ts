import { checkValue, problemText } from "../../../../json-schema/check.js";
import type { JsonSchema } from "../../../../protocol/conversation.js";
import { ResearchFailure } from "../../researcher.js";
import { languageOf } from "../../sources/language.js";
import { type Answer, checkAnswer, factsAnswer, textsOf } from "../checks/answer.js";
import { groundsOf, namesIn, unfounded, without } from "../checks/structured.js";
import type { Fact } from "../facts.js";
import {
  answerPrompt,
  factInput,
  factsInput,
  type Length,
  type Prompt,
  questionInput,
  resultPrompt,
} from "../prompts.js";
import { BudgetSpent } from "../session/budget.js";
import { ContextExceeded, UnreadableReply } from "../session/sender.js";
import type { ModelSession, Task } from "../session/session.js";
import type { Findings } from "./gather.js";
import { readAnswer } from "./readings.js";

/** Some models think aloud before they write, and that counts. In tokens. */
const OUTPUT_TOKENS: Readonly<Record<Length, number>> = { short: 3_000, normal: 6_000, long: 12_000 };
/** How often a structured result is asked for. */
const RESULT_TRIES = 3;

/**
 * Has the model answer from the facts. What cannot stand is asked for once more, with the reason. Where the budget does
 * not allow an answer, and where none of it can stand, the facts are the answer.
 */
export async function writeAnswer(
  session: ModelSession,
  question: string,
  { facts, parts }: Findings,
  length: Length,
): Promise<Answer> {
  const prompt = answerPrompt(length);
  const language = languageOf(question);
  let best: Answer | undefined;
  try {
    const shown = fitting(session, prompt, question, facts, OUTPUT_TOKENS[length]);
    const asked = parts.map((part) => part.question);
    const task = taskFor(session, prompt, factsInput(question, asked, shown), OUTPUT_TOKENS[length]);
    await session.ask(task, (reply, isLast) => {
      const draft = readAnswer(reply);
      if ("wrong" in draft) return draft;
      const { answer, wrong } = checkAnswer(draft.value, facts, question);
      const written = languageOf(textsOf(answer).join(" "));
      answer.isForeign = language !== undefined && written !== undefined && written !== language;
      if (answer.isForeign) wrong.push(`it is not written in the language of the question (${language})`);
      if (best === undefined || textsOf(answer).length >= textsOf(best).length) best = answer;
      if (wrong.length === 0 || isLast) return { value: best };
      return { wrong: wrong.join("; ") };
    });
  } catch (error) {
    const isEnough =
      error instanceof BudgetSpent || error instanceof ContextExceeded || error instanceof UnreadableReply;
    if (!isEnough) throw error;
  }
  if (best !== undefined && (textsOf(best).length > 0 || best.dropped === 0)) return best;
  return {
    ...factsAnswer(facts, question),
    dropped: best?.dropped ?? 0,
    droppedSteps: best?.droppedSteps ?? 0,
  };
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
  const prompt = resultPrompt(schema);
  const names = namesIn(schema);
  const quotes = facts.map(({ quote }) => quote);
  const shown = fitting(session, prompt, question, facts, OUTPUT_TOKENS.normal);
  const task = taskFor(session, prompt, factsInput(question, [], shown), OUTPUT_TOKENS.normal);
  const problemOf = (value: unknown) => checkValue(schema, JSON.stringify(value));
  return session.ask<{ value: unknown; leftOut: string[] }>(
    { ...task, tries: RESULT_TRIES },
    async (value, isLast) => {
      const problem = await problemOf(value);
      const missing = unfounded(value, quotes, names);
      if (problem === undefined && missing.length === 0) return { value: { value, leftOut: [] } };
      const kept = isLast ? without(value, missing) : undefined;
      if (kept !== undefined && groundsOf(kept, quotes).length > 0 && (await problemOf(kept)) === undefined)
        return { value: { value: kept, leftOut: missing.map(({ shown: text }) => text) } };
      const wrong = [
        ...(problem ? [`it does not fit the schema: ${problemText(problem, "the top level")}`] : []),
        ...missing.map(({ shown: text }) => `${text} stands in no quote`),
      ];
      return { wrong: wrong.join("; ") };
    },
  );
}

/** As many facts, from the first, as the budget allows to show. */
function fitting(
  session: ModelSession,
  prompt: Prompt,
  question: string,
  facts: readonly Fact[],
  outputTokens: number,
): Fact[] {
  let room = session.room({
    ...taskFor(session, prompt, questionInput(question), outputTokens),
    outputTokens: 0,
  });
  // A part of what is left is for the reply.
  room -= Math.min(session.budget.bytesFor(outputTokens), room / 3);
  const shown: Fact[] = [];
  for (const fact of facts) {
    room -= Buffer.byteLength(JSON.stringify(factInput(fact, shown.length + 1))) + 2;
    if (room < 0) break;
    shown.push(fact);
  }
  if (shown.length === 0) throw new BudgetSpent("tokens");
  return shown;
}

function taskFor({ budget }: ModelSession, prompt: Prompt, input: string, outputTokens: number): Task {
  return { ...prompt, input, outputTokens, keep: budget.share(0, 0) };
}

/** For a structured result that could not be written. */
export function noResult(why: string): ResearchFailure {
  return new ResearchFailure(`There is no structured result: ${why}.`);
}
