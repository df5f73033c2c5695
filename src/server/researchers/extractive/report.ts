import { shortLine } from "../../../text/phrases.js";
import { type Description, listOf } from "../sources/source.js";
import type { Findings, Quote } from "./find.js";

/** How many of the windows after the answer are laid out for reading, too. */
const ALSO = 2;
/** What they must have of the answer's score. */
const CLOSE = 0.6;
/** A heading's last parts say enough. */
const MAX_HEADING = 90;

/** The findings as Markdown: the answer under its heading, what else was found, the quotes with `file:line`, the sources. */
export function report(prompt: string, { quotes, answers, description }: Findings): string {
  const title = `# ${shortLine(prompt, 200)}`;
  const read = readLine(description);
  const [answer] = quotes;
  if (answer === undefined) {
    return `${title}\n\nNothing was found: no passage in the sources speaks of this. ${read}\n`;
  }
  const also = quotes
    .slice(answers, answers + ALSO)
    .filter(({ score }) => score >= CLOSE * answer.score)
    .map((window, i) => `- ${underHeading(window, " ")} [${i + answers + 1}]`);
  const cited = quotes.map(
    (quote, i) =>
      `${i + 1}. \`${placeOf(quote)}\`\n\n${quote.lines.map((text) => `   > ${text}`).join("\n")}`,
  );
  const parts = [
    title,
    answers > 1 ? listed(quotes.slice(0, answers)) : `${underHeading(answer, "\n\n")} [1]`,
  ];
  if (also.length > 0) parts.push("## Also found", also.join("\n"));
  parts.push("## Quotes", ...cited, "## Sources", sourcesOf(quotes), read);
  return parts.join("\n\n").concat("\n");
}

/** The findings as data, for a structured output without a schema. */
export function structured({ quotes, answers }: Findings) {
  const texts = quotes.slice(0, answers).map(({ text }) => ended(text));
  return {
    answer: texts.join(" "),
    quotes: quotes.map((found) => ({ source: placeOf(found), text: found.lines.join("\n") })),
    sources: [...new Set(quotes.map(({ passage }) => passage.id))],
  };
}

/** Where a quote stands, as in `docs/a.md:12`. */
function placeOf({ passage, line }: Quote): string {
  return `${passage.id}:${line}`;
}

/** The blocks of a section as a list, the titles of a table's columns above its rows. */
function listed(section: readonly Quote[]): string {
  const first = section[0]?.passage;
  const columns = first?.header?.filter(Boolean).join("; ");
  const items = section.map(({ text }, i) => `- ${ended(text)} [${i + 1}]`);
  const head = [titleOf(first?.heading ?? ""), columns && `${columns}:`, items.join("\n")];
  return head.filter(Boolean).join("\n\n");
}

function underHeading({ passage, text }: Quote, between: string): string {
  const title = titleOf(passage.heading);
  return title === "" ? ended(text) : `${title}${between}${ended(text)}`;
}

/** The last parts of a heading, in bold; empty if there are none. */
function titleOf(heading: string): string {
  const parts = heading.split(" / ");
  let shown = parts.pop() ?? "";
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (shown.length + part.length + 3 > MAX_HEADING) break;
    shown = `${part} / ${shown}`;
  }
  const plain = shown.replace(/[*\n]/g, "").slice(0, MAX_HEADING).trim();
  return plain && `**${plain}**`;
}

function sourcesOf(quotes: readonly Quote[]): string {
  return [...new Set(quotes.map(({ passage }) => passage.id))]
    .map((file) => {
      const lines = new Set(quotes.filter(({ passage }) => passage.id === file).map(({ line }) => line));
      const sorted = [...lines].sort((a, b) => a - b);
      return `- \`${file}\`, ${sorted.length === 1 ? "line" : "lines"} ${sorted.join(", ")}`;
    })
    .join("\n");
}

function readLine({ documents, notes, unread }: Description): string {
  const read = `${documents} ${documents === 1 ? "file was" : "files were"} read.`;
  const named = unread.length === 0 ? [] : [`Not read: ${listOf(unread)}.`];
  return [read, ...notes, ...named].join(" ");
}

function ended(text: string): string {
  return /[.!?:;,{}()[\]]["'`)*_]*$/.test(text) ? text : `${text}.`;
}
