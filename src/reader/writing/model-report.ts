import type { CitedSource, Usage } from "../../core/researcher.js";
import { shortenLine } from "../../core/text/format-text.js";
import { FLAGS } from "../model/session/model-budget.js";
import { type Description, listUnreadByReason } from "../searching/source.js";
import { type Answer, listCitedParts } from "./checks/check-answer.js";
import { ADDRESS } from "./checks/check-sentence.js";
import type { Cited, Length } from "./prompts.js";
import type { Fact } from "./quoted-facts.js";
import type { GatheredFacts } from "./steps/gather-facts.js";

const LONGEST_TITLE = 200;
/** Marks a sentence that was not checked against its quotes (contract §4, "With a model"). */
const NOT_CHECKED = "[not checked]";

/** What a report contains besides the answer. */
export interface ReportSubject {
  question: string;
  findings: GatheredFacts;
  description: Description;
  usage: Usage;
  length: Length;
}

/**
 * Writes the answer as Markdown: summary, sections, disagreements, gaps, quotes and sources; a long answer gets a table
 * of contents. Without an answer, the report says that nothing was found.
 */
export function buildModelReport(
  answer: Answer | undefined,
  { question, findings, description, usage, length }: ReportSubject,
): string {
  const cited = listCitedFacts(answer, findings.facts);
  const isFound = cited.length > 0;
  const remarks = formatRemarks(isFound ? answer : undefined, findings);
  const text = joinParagraphs(
    !isFound && remarks,
    ...(answer ? buildReportBody(answer, findings.facts, cited) : []),
    joinSection("Quotes", ...cited.map((fact, i) => `${i + 1}. ${formatQuote(fact)}`)),
    joinSection("Sources", ...formatSources(cited, description)),
    isFound && joinSection("What is checked", remarks),
    joinSection("Usage", formatUsage(usage)),
  );
  const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => `- ${title}`);
  const contents = length === "long" && joinSection("Contents", titles.join("\n"));
  return `${joinParagraphs(`# ${shortenLine(question, LONGEST_TITLE)}`, contents, contents ? "---" : "", text)}\n`;
}

/** Returns the answer as a JSON value, for a structured output without a schema. */
export function buildAnswerData(answer: Answer | undefined, facts: readonly Fact[]) {
  const cited = listCitedFacts(answer, facts);
  return {
    answer: (answer ? listCitedParts(answer) : [])
      .map(({ text, isUnchecked }) => `${endSentence(text)}${isUnchecked ? ` ${NOT_CHECKED}` : ""}`)
      .join(" "),
    quotes: cited.map((fact) => ({ source: formatCitation(fact), text: fact.quote })),
    sources: [...new Set(cited.map(({ document }) => document.id))],
  };
}

/** Lists the facts that an answer cites, each once, in order of first citation. */
export function listCitedFacts(answer: Answer | undefined, facts: readonly Fact[]): Fact[] {
  const ids = answer ? listCitedParts(answer).flatMap((cited) => cited.facts) : [];
  return [...new Set(ids.flatMap((id) => facts[id - 1] ?? []))];
}

/** Lists the sources of `facts`, each once, as ResearchUpdate reports them. */
export function listCitedSources(facts: readonly Fact[]): CitedSource[] {
  const documents = new Map(facts.map(({ document }) => [document.id, document]));
  return [...documents.values()].map(({ id, title, url }) =>
    url === undefined ? { title, file: id } : { title, url },
  );
}

/** Formats a citation as `file:line`, or as a page's address. */
export function formatCitation({ document, line }: Fact): string {
  return document.url ?? `${document.id}:${line}`;
}

/** Builds the parts with sentences. `cited`: the facts that the answer cites, in the order of their numbers. */
function buildReportBody(answer: Answer, facts: readonly Fact[], cited: readonly Fact[]): string[] {
  const cite = ({ text, facts: ids, isUnchecked }: Cited) =>
    `${endSentence(text)} [${ids.map((id) => cited.findIndex((fact) => fact === facts[id - 1]) + 1).join(", ")}]${isUnchecked ? ` ${NOT_CHECKED}` : ""}`;
  const sides = answer.disagree.flatMap(({ about, sides }) => [
    about && endSentence(about),
    sides.map((side) => `- ${cite(side)} (${formatFactPlaces(side, facts)})`).join("\n"),
  ]);
  return [
    answer.sentences.map(cite).join(" "),
    ...answer.sections.map((section) =>
      joinParagraphs(section.title && `## ${section.title}`, formatSection(section, cite)),
    ),
    joinSection("Sources disagree", ...sides),
    joinSection(
      "Not found",
      answer.missing.map((text) => `- ${endSentence(escapeMarkdown(text))}`).join("\n"),
    ),
  ];
}

function formatSection({ kind, columns, items }: Answer["sections"][number], cite: (cited: Cited) => string) {
  const list = items.map((item) => `- ${cite(item)}`).join("\n");
  if (kind === "text") return items.map(cite).join(" ");
  if (kind === "list") return list;
  if (kind === "steps") {
    let number = 0;
    const steps = items.map((item) => (item.goesOn ? ` ${cite(item)}` : `\n${++number}. ${cite(item)}`));
    return steps.join("").trim();
  }
  const rows = items.map((item) =>
    cite(item).replace(/\|?\s*[.]?( \[[\d, ]+\](?: \[not checked\])?)$/, "$1"),
  );
  // If a row and the header differ in the number of cells, write a list instead of a table.
  if (!rows.every((row) => row.split("|").length === columns.length)) return list;
  const table = [`| ${columns.join(" | ")} |`, `|${"---|".repeat(columns.length)}`];
  return [...table, ...rows.map((row) => `| ${row} |`)].join("\n");
}

/** Lists the places of facts, with dates if known, so that a reader can tell disagreeing sources apart. */
function formatFactPlaces({ facts: ids }: Cited, facts: readonly Fact[]): string {
  const origins = ids
    .flatMap((id) => facts[id - 1] ?? [])
    .map(({ document, heading }) =>
      [document.title, heading.split(" / ").at(-1), document.date].filter(Boolean).join(", "),
    );
  return [...new Set(origins)].join("; ");
}

/** Writes what was checked, what was left out, and why the search ended. */
function formatRemarks(answer: Answer | undefined, findings: GatheredFacts): string {
  const { droppedQuotes, isContextCut, spent, parts } = findings;
  const { dropped, droppedSteps, isWritten, isForeign } = answer ?? {};
  const left = [
    droppedQuotes && `quotes of the model that do not stand in their source (${droppedQuotes})`,
    dropped && `sentences that no quote supports (${dropped})`,
    droppedSteps && `whole lists of steps, since a step of each is not supported (${droppedSteps})`,
  ].filter(Boolean);
  const isOpen = spent === undefined && parts.some((part) => part.isOpen);
  const isMarked = answer && listCitedParts(answer).some(({ isUnchecked }) => isUnchecked);
  return joinSentences(
    answer
      ? "Each quote was found in its source at that place, word for word. Each number in the answer stands in a quote that it cites, in the heading over it, or in the question."
      : "Nothing was found: no passage in the sources answers this.",
    isWritten === false && "The answer is made of what a model noted from each quote.",
    answer &&
      (isMarked
        ? `The model held the sentences against their quotes; the work ended before those marked ${NOT_CHECKED}.`
        : "The model held each sentence against its quotes, and what they do not state is left out."),
    left.length > 0 && `Left out: ${left.join("; ")}.`,
    isForeign && "The answer is not in the language of the question, also when it was asked for once more.",
    isContextCut &&
      "The model may not have seen all passages: the endpoint seems to have cut off what it was sent.",
    spent && `The search ended early, at the limit of ${FLAGS[spent.what]}.`,
    answer && isOpen && "The search ended when it found nothing new; some of the question may still be open.",
  );
}

function formatQuote(fact: Fact): string {
  const { heading, header, document, quote } = fact;
  const lines = quote.split("\n").map((line) => `   > ${line.trimEnd()}`);
  const columns = header && `columns ${header.join(" | ")}`;
  const places = [heading, columns, document.date].filter(Boolean).join(", ");
  return joinParagraphs(formatFactPlace(fact), lines.join("\n"), places && `   Under: ${places}`);
}

/** Formats a place as `file:line`; for a page its title, address and time of access. */
function formatFactPlace({ document, line }: Fact): string {
  const { id, title, url, accessed } = document;
  if (url === undefined) return `\`${id}:${line}\``;
  const read = accessed ? `, read ${accessed.slice(0, 10)}` : "";
  return `[${title.replace(/[[\]]/g, "")}](${url})${read}`;
}

function formatSources(cited: readonly Fact[], { documents, notes, unread }: Description): string[] {
  const byDocument = new Map(cited.map((fact) => [fact.document.id, fact]));
  const sourceLines = [...byDocument].map(([id, fact]) => {
    const { url, date } = fact.document;
    return `- ${url ? formatFactPlace(fact) : `\`${id}\``}${date ? `, ${date}` : ""}`;
  });
  const left = unread.length > 0 && `Not read: ${listUnreadByReason(unread)}.`;
  return [sourceLines.join("\n"), joinSentences(`Documents searched: ${documents}.`, ...notes, left)];
}

function formatUsage({ calls, input_tokens, output_tokens, cost_dollars }: Usage): string {
  const [input, output] = [input_tokens, output_tokens].map((tokens) => tokens.toLocaleString("en-US"));
  const cost = cost_dollars !== undefined && `Cost: ${cost_dollars.toFixed(4)} dollars.`;
  return joinSentences(`Calls of the model: ${calls}. Tokens in: ${input}, out: ${output}.`, cost);
}

/** Matches an address, or a character that begins a link, an image, HTML or code. */
const ACTIVE = new RegExp(`${ADDRESS.source}|[\\\\<[\`]`, "gi");

/** Escapes unchecked text and joins its lines, so that it contains no link. */
function escapeMarkdown(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.replace(ACTIVE, (mark) => (mark.length > 1 ? `\`${mark}\`` : `\\${mark}`));
}

/** A text that may be missing. */
type Optional = string | false | undefined;

function joinSection(title: string, ...texts: readonly Optional[]): string {
  const text = joinParagraphs(...texts);
  return text && `## ${title}\n\n${text}`;
}

function joinParagraphs(...texts: readonly Optional[]): string {
  return texts.filter(Boolean).join("\n\n");
}

function joinSentences(...texts: readonly Optional[]): string {
  return texts.filter(Boolean).join(" ");
}

function endSentence(text: string): string {
  return /[.!?:]["'`)*_]*$/.test(text) ? text : `${text}.`;
}
