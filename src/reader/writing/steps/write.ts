import { checkValue, describeProblem } from "../../../core/json-schema/check-in-thread.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";
import { detectLanguage } from "../../languages/languages.js";
import { BudgetSpent } from "../../model/session/budget.js";
import {
  ContextExceeded,
  type ModelSession,
  type Prompt,
  type Task,
  UnreadableReply,
} from "../../model/session/session.js";
import { type Answer, buildFactsAnswer, checkAnswer, listCited } from "../checks/answer.js";
import { hasValue, keepFounded, listPropertyNames } from "../checks/structured.js";
import type { Fact } from "../facts.js";
import {
  buildAnswerPrompt,
  buildFactsInput,
  buildQuestionInput,
  buildResultPrompt,
  formatFact,
  type Length,
  readAnswer,
} from "../prompts.js";
import { checkAgainstQuotes } from "./check-quotes.js";
import type { Gathered } from "./gather.js";

/** Output limits, in tokens, including the reasoning that some models write before their reply. */
const OUTPUT_TOKENS: Readonly<Record<Length, number>> = { short: 3_000, normal: 6_000, long: 12_000 };
/** The share of the budget that is reserved for checking the sentences. */
const FOR_CHECKING = 0.1;

/**
 * Has the model answer from the facts and then check each sentence against its quotes. Asks once more, with the reasons,
 * if parts are invalid. If the budget does not allow an answer or no part is valid, builds the answer from the facts:
 * their claims or, if these are invalid as well, their quotes.
 */
export async function writeAnswer(
  session: ModelSession,
  question: string,
  { facts, parts }: Gathered,
  length: Length,
): Promise<Answer> {
  const asked = parts.map((part) => part.question);
  const language = detectLanguage(question);
  let best: Answer | undefined;
  try {
    const keep = session.budget.share(FOR_CHECKING, session.budget.left.calls > 1 ? 1 : 0);
    const prompt = buildAnswerPrompt(length);
    const task = buildTask(session, prompt, question, asked, facts, OUTPUT_TOKENS[length], keep);
    await session.ask(task, (reply, isLast) => {
      const draft = readAnswer(reply);
      if ("wrong" in draft) return draft;
      const { answer, wrong } = checkAnswer(draft.value, facts, question);
      const cited = listCited(answer);
      const written = detectLanguage(cited.map(({ text }) => text).join(" "));
      answer.isForeign = language !== undefined && written !== undefined && written !== language;
      if (answer.isForeign) wrong.push(`it is not written in the language of the question (${language})`);
      if (best === undefined || cited.length >= listCited(best).length) best = answer;
      return wrong.length === 0 || isLast ? { value: best } : { wrong: wrong.join("; ") };
    });
  } catch (error) {
    const knownErrors = [BudgetSpent, ContextExceeded, UnreadableReply];
    if (!knownErrors.some((kind) => error instanceof kind)) throw error;
  }
  if (best !== undefined && listCited(best).length === 0 && best.dropped === 0) return best;
  const written = best && listCited(best).length > 0 ? best : buildFactsAnswer(facts, question, best);
  const held = await checkAgainstQuotes(session, question, written, facts);
  if (listCited(held).length > 0) return held;
  const quoted = facts.map((fact) => ({ ...fact, claim: fact.quote }));
  return buildFactsAnswer(quoted, question, held);
}

/**
 * Has the model fill the client's schema from the facts. After the last try, leaves out strings and numbers that are in no
 * quote if the schema allows that; otherwise throws a ResearchFailure that names them.
 */
export async function writeResult(
  session: ModelSession,
  question: string,
  facts: readonly Fact[],
  schema: JsonSchema,
): Promise<{ value: unknown; leftOut: string[] }> {
  const names = listPropertyNames(schema);
  const quotes = facts.map(({ quote }) => quote);
  const task = buildTask(session, buildResultPrompt(schema), question, [], facts, OUTPUT_TOKENS.normal);
  const findProblem = (value: unknown) => checkValue(schema, JSON.stringify(value));
  return session.ask<{ value: unknown; leftOut: string[] }>(task, async (value, isLast) => {
    const problem = await findProblem(value);
    const { kept, missing } = keepFounded(value, quotes, names);
    if (problem === undefined && missing.length === 0) return { value: { value, leftOut: [] } };
    if (isLast && quotes.some((quote) => hasValue(quote, kept)) && (await findProblem(kept)) === undefined)
      return { value: { value: kept, leftOut: missing } };
    const wrong = missing.map((shown) => `${shown} is in no quote`);
    if (problem) wrong.unshift(`it does not fit the schema: ${describeProblem(problem, "the top level")}`);
    return { wrong: wrong.join("; ") };
  });
}

/** Builds the task with as many of the first facts as the budget allows. */
function buildTask(
  session: ModelSession,
  prompt: Prompt,
  question: string,
  parts: readonly string[],
  facts: readonly Fact[],
  outputTokens: number,
  keep = session.budget.share(0, 0),
): Task {
  const task = { ...prompt, outputTokens, keep };
  let room = session.measureRoom({ ...task, input: buildQuestionInput(question), outputTokens: 0 });
  // Reserve a part of the room for the reply.
  room -= Math.min(session.budget.toBytes(outputTokens), room / 3);
  const shown: Fact[] = [];
  for (const fact of facts) {
    room -= Buffer.byteLength(JSON.stringify(formatFact(fact, shown.length + 1))) + 2;
    if (room < 0) break;
    shown.push(fact);
  }
  if (shown.length === 0) throw new BudgetSpent("tokens");
  return { ...task, input: buildFactsInput(question, parts, shown) };
}
