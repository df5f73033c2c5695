import { shortLine } from "../../../text/phrases.js";
import type { CitedSource, Usage } from "../researcher.js";
import { type Description, listOf } from "../sources/source.js";
import { type Answer, citedIn } from "./checks/answer.js";
import type { Fact } from "./facts.js";
import type { Cited } from "./prompts.js";
import { FLAGS } from "./session/budget.js";
import type { Gathered } from "./steps/gather.js";

const LONGEST_TITLE = 200;

/** What a report says beside its answer. */
export interface About {
  question: string;
  findings: Gathered;
  description: Description;
  usage: Usage;
}

/**
 * The answer as Markdown: a summary, its sections, what disagrees and what is missing, the quotes and their sources.
 * Without an answer it says that nothing was found.
 */
export function modelReport(
  answer: Answer | undefined,
  { question, findings, description, usage }: About,
): string {
  const cited = citedFacts(answer, findings.facts);
  const remarks = remarksOn(answer, findings);
  return `${paragraphs(
    `# ${shortLine(question, LONGEST_TITLE)}`,
    ...(answer ? body(answer, findings.facts, cited) : [remarks]),
    section("Quotes", ...cited.map((fact, i) => `${i + 1}. ${quoteOf(fact)}`)),
    section("Sources", ...sourcesOf(cited, description)),
    answer && section("What is checked", remarks),
    section("Usage", usageOf(usage)),
  )}\n`;
}

/** The answer as data, for a structured output without a schema. */
export function answerData(answer: Answer | undefined, facts: readonly Fact[]) {
  const cited = citedFacts(answer, facts);
  return {
    answer: (answer ? citedIn(answer) : []).map(({ text }) => ended(text)).join(" "),
    quotes: cited.map((fact) => ({ source: citationOf(fact), text: fact.quote })),
    sources: [...new Set(cited.map(({ document }) => document.id))],
  };
}

/** The facts that an answer cites, in the order in which it does. */
export function citedFacts(answer: Answer | undefined, facts: readonly Fact[]): Fact[] {
  const ids = answer ? citedIn(answer).flatMap((cited) => cited.facts) : [];
  return [...new Set(ids.flatMap((id) => facts[id - 1] ?? []))];
}

/** The sources of `facts`, each once, as output data names them. */
export function citedSources(facts: readonly Fact[]): CitedSource[] {
  const documents = new Map(facts.map(({ document }) => [document.id, document]));
  return [...documents.values()].map(({ id, title, url }) =>
    url === undefined ? { title, file: id } : { title, url },
  );
}

/** `file:line`, or the address of a page. */
export function citationOf({ document, line }: Fact): string {
  return document.url ?? `${document.id}:${line}`;
}

/** `cited` are the facts that it cites, under their numbers. */
function body(answer: Answer, facts: readonly Fact[], cited: readonly Fact[]): string[] {
  const cite = ({ text, facts: ids }: Cited) =>
    `${ended(text)} [${ids.map((id) => cited.findIndex((fact) => fact === facts[id - 1]) + 1).join(", ")}]`;
  const sides = answer.disagree.flatMap(({ about, sides }) => [
    about && ended(about),
    sides.map((side) => `- ${cite(side)} (${originsOf(side, facts)})`).join("\n"),
  ]);
  return [
    answer.sentences.map(cite).join(" "),
    ...answer.sections.map((one) => paragraphs(one.title && `## ${one.title}`, sectionOf(one, cite))),
    section("Sources disagree", ...sides),
    section("Not found", answer.missing.map((text) => `- ${ended(text)}`).join("\n")),
  ];
}

function sectionOf({ kind, columns, items }: Answer["sections"][number], cite: (cited: Cited) => string) {
  const list = items.map((item) => `- ${cite(item)}`).join("\n");
  if (kind === "text") return items.map(cite).join(" ");
  if (kind === "list") return list;
  if (kind === "steps") {
    let number = 0;
    const steps = items.map((item) => (item.goesOn ? ` ${cite(item)}` : `\n${++number}. ${cite(item)}`));
    return steps.join("").trim();
  }
  const rows = items.map((item) => cite(item).replace(/\|?\s*[.]?( \[[\d, ]+\])$/, "$1"));
  // Rows whose cells are not as many as the columns make a list of what was to be a table.
  if (!rows.every((row) => row.split("|").length === columns.length)) return list;
  const table = [`| ${columns.join(" | ")} |`, `|${"---|".repeat(columns.length)}`];
  return [...table, ...rows.map((row) => `| ${row} |`)].join("\n");
}

/** Where facts stand, each with its date if one is known: what tells sources apart that disagree. */
function originsOf({ facts: ids }: Cited, facts: readonly Fact[]): string {
  const origins = ids
    .flatMap((id) => facts[id - 1] ?? [])
    .map(({ document, heading }) =>
      [document.title, heading.split(" / ").at(-1), document.date].filter(Boolean).join(", "),
    );
  return [...new Set(origins)].join("; ");
}

/** What is checked of an answer and what is not, what was left out, and why the search ended early. */
function remarksOn(answer: Answer | undefined, findings: Gathered): string {
  const { droppedQuotes, isContextCut, spent, parts } = findings;
  const { dropped, droppedSteps, isWritten, isForeign } = answer ?? {};
  const left = [
    droppedQuotes && `${count(droppedQuotes, "quote")} of the model that did not stand in its source`,
    dropped && `${count(dropped, "sentence")} that no quote supports`,
    droppedSteps && `${count(droppedSteps, "list")} of steps, whole, since a step of it is not supported`,
  ].filter(Boolean);
  const isOpen = spent === undefined && parts.some((part) => part.isOpen);
  return sentences(
    answer
      ? "Each quote was found in its source at that place, word for word. Each number in the answer stands in a quote that it cites, in the heading over it, or in the question."
      : "Nothing was found: no passage in the sources answers this.",
    isWritten && "What the answer concludes from its quotes was written by a model and is not checked.",
    isWritten === false &&
      "The answer is made of what a model noted from each quote; what it notes beside the numbers is not checked.",
    left.length > 0 && `Left out: ${left.join("; ")}.`,
    isForeign && "The answer is not in the language of the question, also when it was asked for once more.",
    isContextCut &&
      "The model may not have seen all passages: the endpoint seems to have cut off what it was sent.",
    spent && `The search ended early, at the limit of ${FLAGS[spent.what]}.`,
    answer && isOpen && "The search ended when it found nothing new; some of the question may still be open.",
  );
}

function quoteOf(fact: Fact): string {
  const { heading, header, document, quote } = fact;
  const lines = quote.split("\n").map((line) => `   > ${line.trimEnd()}`);
  const over = [heading, header && `columns ${header.join(" | ")}`, document.date].filter(Boolean).join(", ");
  return paragraphs(placeOf(fact), lines.join("\n"), over && `   Under: ${over}`);
}

/** `file:line`; of a page its title, its address and when it was read. */
function placeOf({ document, line }: Fact): string {
  const { id, title, url, accessed } = document;
  if (url === undefined) return `\`${id}:${line}\``;
  return `[${title.replace(/[[\]]/g, "")}](${url})${accessed ? `, read ${accessed.slice(0, 10)}` : ""}`;
}

function sourcesOf(cited: readonly Fact[], { documents, notes, unread }: Description): string[] {
  const byDocument = new Map(cited.map((fact) => [fact.document.id, fact]));
  const named = [...byDocument].map(([id, fact]) => `- ${fact.document.url ? placeOf(fact) : `\`${id}\``}`);
  const read = `${documents} ${documents === 1 ? "document was" : "documents were"} searched.`;
  const left = unread.length > 0 && `Not read: ${listOf(unread)}.`;
  return [named.join("\n"), sentences(read, ...notes, left)];
}

function usageOf({ calls, input_tokens, output_tokens, cost_dollars }: Usage): string {
  const tokens = `${input_tokens.toLocaleString("en-US")} tokens in and ${output_tokens.toLocaleString("en-US")} out`;
  const cost = cost_dollars === undefined ? "" : `, ${cost_dollars.toFixed(4)} dollars`;
  return `${count(calls, "call")} of the model, ${tokens}${cost}.`;
}

/** A text that may be left out. */
type Optional = string | false | undefined;

function section(title: string, ...texts: readonly Optional[]): string {
  const text = paragraphs(...texts);
  return text && `## ${title}\n\n${text}`;
}

function paragraphs(...texts: readonly Optional[]): string {
  return texts.filter(Boolean).join("\n\n");
}

function sentences(...texts: readonly Optional[]): string {
  return texts.filter(Boolean).join(" ");
}

function ended(text: string): string {
  return /[.!?:]["'`)*_]*$/.test(text) ? text : `${text}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
