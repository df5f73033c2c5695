import { checkValue, describeProblem } from "../../../core/json-schema/check-in-thread.js";
import type { JsonSchema } from "../../../core/protocol/conversation.js";
import { detectLanguage } from "../../languages/vocabulary.js";
import { BudgetExceededError } from "../../model/session/model-budget.js";
import {
  ContextExceededError,
  type ModelSession,
  type Prompt,
  type Task,
  UnreadableReplyError,
} from "../../model/session/model-session.js";
import { type Answer, buildFactsAnswer, checkAnswer, listCitedParts } from "../checks/check-answer.js";
import { hasQuotedValue, keepQuotedValues, listPropertyNames } from "../checks/structured-values.js";
import {
  buildAnswerPrompt,
  buildFactsInput,
  buildQuestionInput,
  buildResultPrompt,
  formatFact,
  type Length,
  readAnswer,
} from "../prompts.js";
import type { Fact } from "../quoted-facts.js";
import { checkAgainstQuotes } from "./check-quotes.js";
import type { GatheredFacts } from "./gather-facts.js";

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
  { facts, parts }: GatheredFacts,
  length: Length,
): Promise<Answer> {
  const asked = parts.map((part) => part.question);
  const language = detectLanguage(question);
  let best: Answer | undefined;
  try {
    const keep = session.budget.share(FOR_CHECKING, session.budget.left.calls > 1 ? 1 : 0);
    const prompt = buildAnswerPrompt(length);
    const task = buildWritingTask(session, prompt, question, asked, facts, OUTPUT_TOKENS[length], keep);
    await session.ask(task, (reply, isLast) => {
      const draft = readAnswer(reply);
      if ("wrong" in draft) return draft;
      const { answer, wrong } = checkAnswer(draft.value, facts, question);
      const cited = listCitedParts(answer);
      const written = detectLanguage(cited.map(({ text }) => text).join(" "));
      answer.isForeign = language !== undefined && written !== undefined && written !== language;
      if (answer.isForeign) wrong.push(`it is not written in the language of the question (${language})`);
      if (best === undefined || cited.length >= listCitedParts(best).length) best = answer;
      return wrong.length === 0 || isLast ? { value: best } : { wrong: wrong.join("; ") };
    });
  } catch (error) {
    const knownErrors = [BudgetExceededError, ContextExceededError, UnreadableReplyError];
    if (!knownErrors.some((kind) => error instanceof kind)) throw error;
  }
  if (best !== undefined && listCitedParts(best).length === 0 && best.dropped === 0) return best;
  const written = best && listCitedParts(best).length > 0 ? best : buildFactsAnswer(facts, question, best);
  const held = await checkAgainstQuotes(session, question, written, facts);
  if (listCitedParts(held).length > 0) return held;
  const quoted = facts.map((fact) => ({ ...fact, claim: fact.quote }));
  return buildFactsAnswer(quoted, question, held);
}

/**
 * Has the model fill the client's schema from the facts. After the last try, leaves out strings and numbers that are in no
 * quote if the schema allows that; otherwise throws a ResearchFailure that names them.
 */
export async function writeStructuredResult(
  session: ModelSession,
  question: string,
  facts: readonly Fact[],
  schema: JsonSchema,
): Promise<{ value: unknown; leftOut: string[] }> {
  const names = listPropertyNames(schema);
  const quotes = facts.map(({ quote }) => quote);
  const task = buildWritingTask(
    session,
    buildResultPrompt(schema),
    question,
    [],
    facts,
    OUTPUT_TOKENS.normal,
  );
  const findProblem = (value: unknown) => checkValue(schema, JSON.stringify(value));
  return session.ask<{ value: unknown; leftOut: string[] }>(task, async (value, isLast) => {
    const problem = await findProblem(value);
    const { kept, missing } = keepQuotedValues(value, quotes, names);
    if (problem === undefined && missing.length === 0) return { value: { value, leftOut: [] } };
    if (
      isLast &&
      quotes.some((quote) => hasQuotedValue(quote, kept)) &&
      (await findProblem(kept)) === undefined
    )
      return { value: { value: kept, leftOut: missing } };
    const wrong = missing.map((shown) => `${shown} is in no quote`);
    if (problem) wrong.unshift(`it does not fit the schema: ${describeProblem(problem, "the top level")}`);
    return { wrong: wrong.join("; ") };
  });
}

/** Builds the task with as many of the first facts as the budget allows. */
function buildWritingTask(
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
  if (shown.length === 0) throw new BudgetExceededError("tokens");
  return { ...task, input: buildFactsInput(question, parts, shown) };
}
