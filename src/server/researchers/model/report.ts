import { shortLine } from "../../../text/phrases.js";
import type { CitedSource, Usage } from "../researcher.js";
import type { Description } from "../sources/source.js";
import { listOf } from "../sources/unread.js";
import { type Answer, type AnswerSection, textsOf } from "./checks/answer.js";
import type { Cited } from "./checks/sentence.js";
import { type Fact, originOf, placeOf } from "./facts.js";
import type { BudgetLimits } from "./session/budget.js";
import type { Findings } from "./steps/gather.js";

/** The flags that set the limits. */
export const LIMIT_FLAGS: Record<keyof BudgetLimits, string> = {
  tokens: "--model-tokens",
  calls: "--model-calls",
  ms: "--model-time",
};
const LONGEST_TITLE = 200;

/** What a report says beside its answer. */
export interface About {
  question: string;
  findings: Findings;
  description: Description;
  usage: Usage;
}

/** The answer as Markdown: a summary, its sections, what disagrees and what is missing, the quotes and their sources. */
export function report(answer: Answer, about: About): string {
  const { facts } = about.findings;
  const order = citedIn(answer);
  const cite = ({ text, facts: cited }: Cited) =>
    `${ended(text)} [${cited.map((id) => order.indexOf(id) + 1).join(", ")}]`;
  const quotes = order.flatMap((id, i) => {
    const fact = facts[id - 1];
    return fact === undefined ? [] : [quoteOf(fact, i + 1)];
  });
  const sides = answer.disagree.map(({ about: title, sides }) => {
    const listed = sides.map((side) => `- ${cite(side)} (${originsOf(side, facts)})`).join("\n");
    return title === "" ? listed : `${ended(title)}\n\n${listed}`;
  });
  return parts(
    titleOf(about.question),
    answer.sentences.map(cite).join(" "),
    ...answer.sections.map((section) => sectionOf(section, cite)),
    section("Sources disagree", ...sides),
    section("Not found", answer.missing.map((text) => `- ${ended(text)}`).join("\n")),
    section("Quotes", ...quotes),
    section(
      "Sources",
      sourcesOf(
        order.flatMap((id) => facts[id - 1] ?? []),
        about.description,
      ),
    ),
    section("What is checked", checksOf(answer, about.findings)),
    section("Usage", usageOf(about.usage)),
  );
}

/** The report of a search that found nothing. */
export function nothingFound({ question, findings, description, usage }: About): string {
  const said = [
    "Nothing was found: no passage in the sources answers this.",
    droppedOf(findings),
    endOf({ ...findings, parts: [] }),
  ];
  return parts(
    titleOf(question),
    said.filter(Boolean).join(" "),
    section("Sources", sourcesOf([], description)),
    section("Usage", usageOf(usage)),
  );
}

/** The answer as data, for a structured output without a schema. */
export function structured(answer: Answer, facts: readonly Fact[]) {
  const cited = citedIn(answer).flatMap((id) => facts[id - 1] ?? []);
  return {
    answer: textsOf(answer).map(ended).join(" "),
    quotes: cited.map((fact) => ({ source: sourceOf(fact), text: fact.quote })),
    sources: [...new Set(cited.map(({ document }) => document.id))],
  };
}

/** The sources of `facts`, each once, as output data names them. */
export function citedSources(facts: readonly Fact[]): CitedSource[] {
  const documents = new Map(facts.map(({ document }) => [document.id, document]));
  return [...documents.values()].map(({ id, title, url }) =>
    url === undefined ? { title, file: id } : { title, url },
  );
}

/** The numbers of the facts that an answer cites, in the order in which it does. */
export function citedIn({ sentences, sections, disagree }: Answer): number[] {
  const cited = [
    ...sentences,
    ...sections.flatMap(({ items }) => items),
    ...disagree.flatMap(({ sides }) => sides),
  ];
  return [...new Set(cited.flatMap(({ facts }) => facts))];
}

/** `file:line`, or the address of a page. */
export function sourceOf({ document, line }: Fact): string {
  return document.url ?? `${document.id}:${line}`;
}

function sectionOf({ title, kind, columns, items }: AnswerSection, cite: (cited: Cited) => string): string {
  const lines = {
    text: () => items.map(cite).join(" "),
    list: () => items.map((item) => `- ${cite(item)}`).join("\n"),
    steps: () => {
      let number = 0;
      return items
        .map((item) => (item.goesOn ? ` ${cite(item)}` : `\n${++number}. ${cite(item)}`))
        .join("")
        .trim();
    },
    table: () => tableOf(columns, items, cite),
  }[kind]();
  return title === "" ? lines : `## ${title}\n\n${lines}`;
}

/** Rows whose cells are not as many as the columns make a list of what was to be a table. */
function tableOf(
  columns: readonly string[],
  items: readonly Cited[],
  cite: (cited: Cited) => string,
): string {
  const rows = items.map((item) => cite(item).replace(/\|?\s*[.]?( \[[\d, ]+\])$/, "$1"));
  if (!rows.every((row) => row.split("|").length === columns.length))
    return items.map((item) => `- ${cite(item)}`).join("\n");
  return [
    `| ${columns.join(" | ")} |`,
    `|${columns.map(() => "---|").join("")}`,
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

function originsOf({ facts: cited }: Cited, facts: readonly Fact[]): string {
  const origins = cited.flatMap((id) => facts[id - 1] ?? []).map(originOf);
  return [...new Set(origins)].join("; ");
}

function checksOf(answer: Answer, findings: Findings): string {
  const sentences = [
    "Each quote was found in its source at that place, word for word. Each number in the answer stands in a quote that it cites, in the heading over it, or in the question.",
    answer.isWritten
      ? "What the answer concludes from its quotes was written by a model and is not checked."
      : "The answer is made of what a model noted from each quote; what it notes beside the numbers is not checked.",
    droppedOf(findings, answer),
    answer.isForeign &&
      "The answer is not in the language of the question, also when it was asked for once more.",
    endOf(findings),
  ];
  return sentences.filter(Boolean).join(" ");
}

function droppedOf({ droppedQuotes }: Findings, answer?: Answer): string {
  const { dropped = 0, droppedSteps = 0 } = answer ?? {};
  const left = [
    droppedQuotes > 0 && `${count(droppedQuotes, "quote")} of the model that did not stand in its source`,
    dropped > 0 && `${count(dropped, "sentence")} that no quote supports`,
    droppedSteps > 0 && `${count(droppedSteps, "list")} of steps, whole, since a step of it is not supported`,
  ].filter(Boolean);
  return left.length === 0 ? "" : `Left out: ${left.join("; ")}.`;
}

function endOf({ spent, isContextCut, parts: asked }: Findings): string {
  const said = [
    isContextCut &&
      "The model may not have seen all passages: the endpoint seems to have cut off what it was sent.",
    spent && `The search ended early, at the limit of ${LIMIT_FLAGS[spent]}.`,
    spent === undefined &&
      asked.some(({ isOpen }) => isOpen) &&
      "The search ended when it found nothing new; some of the question may still be open.",
  ];
  return said.filter(Boolean).join(" ");
}

function quoteOf(fact: Fact, number: number): string {
  const lines = fact.quote.split("\n").map((line) => `   > ${line.trimEnd()}`);
  const over = [fact.heading, fact.header && `columns ${fact.header.join(" | ")}`, fact.document.date].filter(
    Boolean,
  );
  const under = over.length === 0 ? "" : `\n\n   Under: ${over.join(", ")}`;
  return `${number}. ${placeOf(fact)}\n\n${lines.join("\n")}${under}`;
}

function sourcesOf(facts: readonly Fact[], { documents, notes, unread }: Description): string {
  const cited = new Map(facts.map((fact) => [fact.document.id, fact]));
  const named = [...cited.values()].map((fact) =>
    fact.document.url === undefined ? `- \`${fact.document.id}\`` : `- ${placeOf(fact)}`,
  );
  const left = unread.length === 0 ? [] : [`Not read: ${listOf(unread)}.`];
  const read = `${documents} ${documents === 1 ? "document was" : "documents were"} searched.`;
  return parts(named.join("\n"), [read, ...notes, ...left].join(" ")).trimEnd();
}

function usageOf({ calls, input_tokens, output_tokens, cost_dollars }: Usage): string {
  const tokens = `${input_tokens.toLocaleString("en-US")} tokens in and ${output_tokens.toLocaleString("en-US")} out`;
  const cost = cost_dollars === undefined ? "" : `, ${cost_dollars.toFixed(4)} dollars`;
  return `${count(calls, "call")} of the model, ${tokens}${cost}.`;
}

function titleOf(question: string): string {
  return `# ${shortLine(question, LONGEST_TITLE)}`;
}

function section(title: string, ...texts: readonly string[]): string {
  const text = texts.filter(Boolean).join("\n\n");
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function parts(...texts: readonly string[]): string {
  return `${texts.filter(Boolean).join("\n\n")}\n`;
}

function ended(text: string): string {
  return /[.!?:]["'`)*_]*$/.test(text) ? text : `${text}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
