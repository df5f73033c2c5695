import { type Fact, placeOf } from "./facts.js";
import type { BudgetLimits } from "./session/budget.js";
import type { Findings } from "./steps/gather.js";
import type { Answer } from "./steps/write.js";

/** The flags that set the limits. */
export const LIMIT_FLAGS: Record<keyof BudgetLimits, string> = {
  tokens: "--model-tokens",
  calls: "--model-calls",
  ms: "--model-time",
};
const COUNTS = "no,one,two,three,four,five,six,seven,eight,nine,ten".split(",");
const LONGEST_TITLE = 200;

/** The answer as Markdown: sentences with marks of citation, the quotes with `file:line`, and what was checked. */
export function report(question: string, findings: Findings, answer: Answer): string {
  const order = [...new Set(answer.sentences.flatMap(({ facts }) => facts))];
  const numberOf = (fact: number) => order.indexOf(fact) + 1;
  const text = answer.sentences.map(
    (sentence) => `${ended(sentence.text)} [${sentence.facts.map(numberOf).join(", ")}]`,
  );
  const quotes = order.flatMap((id, i) => {
    const fact = findings.facts[id - 1];
    return fact === undefined ? [] : [quoteOf(fact, i + 1)];
  });
  return parts(
    titleOf(question),
    text.join(answer.isWritten ? " " : "\n\n"),
    "## Quotes",
    ...quotes,
    "## What is checked",
    checksOf(findings, answer),
  );
}

/** The report of a search that found nothing. */
export function nothingFound(question: string, findings: Findings): string {
  return parts(
    titleOf(question),
    ["Nothing was found: no passage in the sources answers this.", droppedOf(findings, 0), cutOf(findings)]
      .filter(Boolean)
      .join(" "),
  );
}

/** The quotes as data, for a structured output without a schema. Every text in it stands in the sources. */
export function structured(facts: readonly Fact[]) {
  return {
    answer: facts.map(({ quote }) => quote.replace(/\s+/g, " ")).join(" "),
    quotes: facts.map((fact) => ({ source: placeOf(fact), text: fact.quote })),
    sources: [...new Set(facts.map(({ file }) => file))],
  };
}

function checksOf(findings: Findings, answer: Answer): string {
  const sentences = [
    "Each quote was found in its file at that line, word for word. Each number in the answer stands in a quote that it cites, or in the question.",
    answer.isWritten
      ? "What the answer concludes from its quotes was written by a model and is not checked."
      : "The answer is made of what a model noted from each quote; what it notes beside the numbers is not checked.",
    droppedOf(findings, answer.droppedSentences),
    cutOf(findings),
    findings.spent && `The search ended early, at the limit of ${LIMIT_FLAGS[findings.spent]}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

function droppedOf({ droppedQuotes }: Findings, droppedSentences: number): string {
  const quotes =
    droppedQuotes > 0 && `${count(droppedQuotes, "quote")} of the model that did not stand in its source`;
  const sentences = droppedSentences > 0 && `${count(droppedSentences, "sentence")} that no quote supports`;
  const dropped = [quotes, sentences].filter(Boolean).join(" and ");
  return dropped === "" ? "" : `Left out: ${dropped}.`;
}

function cutOf({ isContextCut }: Findings): string {
  return isContextCut
    ? "The model may not have seen all passages: the endpoint seems to have cut off what it was sent."
    : "";
}

function quoteOf(fact: Fact, number: number): string {
  const lines = fact.quote.split("\n").map((line) => `   > ${line.trimEnd()}`);
  // A number in a heading stands in no quote.
  const heading = /^$|\p{N}/u.test(fact.heading) ? "" : `\n\n   Under: ${fact.heading}`;
  return `${number}. \`${placeOf(fact)}\`\n\n${lines.join("\n")}${heading}`;
}

function titleOf(question: string): string {
  const line = question.replace(/\s+/g, " ").trim();
  return `# ${line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line}`;
}

function parts(...texts: readonly string[]): string {
  return `${texts.join("\n\n")}\n`;
}

function ended(text: string): string {
  return /[.!?:]["'`)*_]*$/.test(text) ? text : `${text}.`;
}

/** In words, because every number in a report's digits is one of a quote or of the question. */
function count(number: number, noun: string): string {
  return `${COUNTS[number] ?? "more than ten"} ${noun}${number === 1 ? "" : "s"}`;
}
