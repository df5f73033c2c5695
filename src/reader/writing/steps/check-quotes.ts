import { ResearchFailure } from "../../../core/researcher.js";
import { splitIntoStems } from "../../matching/words.js";
import { BudgetExceededError } from "../../model/session/model-budget.js";
import { LEAST_OUTPUT, type ModelSession } from "../../model/session/model-session.js";
import { type Answer, checkAnswer, listPartsToVerify } from "../checks/check-answer.js";
import { buildCheckInput, CHECK, type Cited, type HeldVerdict, readVerdicts } from "../prompts.js";
import { type Fact, joinQuotedText } from "../quoted-facts.js";

/** The size of one verdict in a reply, and an allowance for reasoning before the verdicts, in tokens. */
const VERDICT_TOKENS = 5;
const THINKING_TOKENS = 3_000;

/**
 * Has the model check each sentence, item and row against the quotes that it cites. Leaves out those that the quotes do not
 * state; of a list of steps, all of it. Begins with sentences that share the fewest words with their quotes. If the budget
 * or the endpoint ends the work early, marks the rest as unchecked.
 */
export async function checkAgainstQuotes(
  session: ModelSession,
  question: string,
  answer: Answer,
  facts: readonly Fact[],
): Promise<Answer> {
  let asked = listPartsToVerify(answer)
    .map((held) => ({ ...held, share: countSharedWords(held.sentence, facts, question) }))
    .sort((a, b) => a.share - b.share);
  const buildInput = () => buildCheckInput(question, asked, facts);
  const verdicts = new Map<Cited, HeldVerdict>();
  try {
    const keep = session.budget.share(0, 0);
    const measureRoom = (outputTokens: number) =>
      session.measureRoom({ ...CHECK, keep, outputTokens, input: "" });
    const computeLeast = () => LEAST_OUTPUT + VERDICT_TOKENS * asked.length;
    while (Buffer.byteLength(JSON.stringify(buildInput())) > measureRoom(computeLeast())) {
      asked = asked.slice(0, Math.floor(asked.length * 0.8));
      if (asked.length === 0) throw new BudgetExceededError("tokens");
    }
    const task = { ...CHECK, keep, outputTokens: THINKING_TOKENS + computeLeast(), input: buildInput() };
    await session.ask(task, (reply, isLast) => {
      const read = readVerdicts(reply);
      if ("wrong" in read) return read;
      for (const [nth, verdict] of read.value) {
        const of = asked[nth - 1];
        if (of) verdicts.set(of.sentence, verdict);
      }
      const without = asked.flatMap(({ sentence }, i) => (verdicts.has(sentence) ? [] : i + 1));
      if (without.length === 0 || isLast) return { value: undefined };
      return { wrong: `there is no verdict on the sentences ${without.join(", ")}` };
    });
  } catch (error) {
    if (!(error instanceof BudgetExceededError || error instanceof ResearchFailure)) throw error;
  }
  const checked = checkAnswer(answer, facts, question, (sentence) => {
    const verdict = verdicts.get(sentence);
    if (verdict === undefined) return { ...sentence, isUnchecked: true };
    return verdict === "stated" ? sentence : { wrong: verdict };
  });
  return checked.answer;
}

/** Returns the share of a sentence's content words that occur in its quotes, in the headings above them, or in the question. */
function countSharedWords({ text, facts: ids }: Cited, facts: readonly Fact[], question: string): number {
  const grounds = ids.flatMap((id) => facts[id - 1] ?? []).map(joinQuotedText);
  const factWords = new Set(splitIntoStems([question, ...grounds].join("\n")));
  const sentenceWords = splitIntoStems(text);
  return sentenceWords.filter((word) => factWords.has(word)).length / Math.max(1, sentenceWords.length);
}
