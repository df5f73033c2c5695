import { shortenLine } from "../../core/text/format-text.js";
import { type Description, listUnreadByReason, type Passage } from "../searching/source.js";

const NO_ANSWER =
  "These passages fit the question best. They are not an answer. For an answer, name a model with `--model NAME --model-url URL`.";

/** Writes the passages as Markdown, best first, each with its place and the headings above it. */
export function formatPassageReport(
  prompt: string,
  passages: readonly Passage[],
  description: Description,
): string {
  const title = `# ${shortenLine(prompt, 200)}`;
  const read = formatReadSummary(description);
  if (passages.length === 0)
    return `${title}\n\nNothing was found: no passage in the sources has enough of the question's words. ${read}\n`;
  const excerpts = passages.map((passage, i) => {
    const over = getColumnTitles(passage) ? passage.heading : joinHeading(passage);
    const quote = formatQuote(passage)
      .flatMap((each) => each.split("\n"))
      .map((line) => `   > ${line}`.trimEnd())
      .join("\n");
    return `${i + 1}. \`${passage.id}:${passage.line}\`${over && `, ${over}`}\n\n${quote}`;
  });
  return `${[title, NO_ANSWER, ...excerpts, read].join("\n\n")}\n`;
}

/** Quotes a passage as written; adds fences to code, and the column titles to a Markdown row. */
function formatQuote(passage: Passage): readonly string[] {
  const { kind, lines, code } = passage;
  if (code) return [...lines, "", ...formatQuote({ ...code, id: passage.id })];
  if (kind === "code") {
    const ticks = Array.from(lines.join("\n").matchAll(/`{3,}/g), ([run]) => run.length + 1);
    const fence = "`".repeat(Math.max(3, ...ticks));
    return [fence, ...lines, fence];
  }
  const titles = getColumnTitles(passage)?.map((title) => ` ${title.replaceAll("|", "\\|")} |`);
  return titles ? [`|${titles.join("")}`, `|${"---|".repeat(titles.length)}`, ...lines] : lines;
}

/** Returns the column titles of a Markdown row; undefined for other passages. */
function getColumnTitles({ header, lines }: Passage): readonly string[] | undefined {
  return lines[0]?.startsWith("|") ? header : undefined;
}

/** Returns the passages as a JSON value, for a structured output without a schema. */
export function buildPassageData(passages: readonly Passage[]) {
  return {
    passages: passages.map((passage) => ({
      source: passage.id,
      line: passage.line,
      heading: joinHeading(passage),
      text: joinPassageText(passage),
    })),
  };
}

/** Joins the lines of a passage and its code block; blank lines keep their distance in the file. */
function joinPassageText({ line, lines, code }: Passage): string {
  const between = Array<string>(Math.max(0, (code?.line ?? 0) - line - lines.length)).fill("");
  return [...lines, ...(code ? [...between, ...code.lines] : [])].join("\n");
}

/** Joins the headings above a passage and, for a table row, the column titles. */
function joinHeading({ heading, header = [] }: Passage): string {
  return [heading, header.filter(Boolean).join("; ")].filter(Boolean).join(" / ");
}

function formatReadSummary({ documents, notes, unread }: Description): string {
  const read = `${documents} ${documents === 1 ? "file was" : "files were"} read.`;
  const unreadNote = unread.length === 0 ? [] : [`Not read: ${listUnreadByReason(unread)}.`];
  return [read, ...notes, ...unreadNote].join(" ");
}
