import { shortLine } from "../../ground/text/phrases.js";
import { type Description, listOf, type Passage } from "../finding/source.js";

const NO_ANSWER =
  "These are the passages that fit the question best, and no answer: a model (`--model NAME --model-url URL`) would word one from them, with its quotes checked.";

/** The passages as Markdown, the best one first, each with its place and what stands over it. */
export function report(prompt: string, passages: readonly Passage[], description: Description): string {
  const title = `# ${shortLine(prompt, 200)}`;
  const read = readLine(description);
  if (passages.length === 0)
    return `${title}\n\nNothing was found: no passage in the sources has enough of the question's words. ${read}\n`;
  const found = passages.map((passage, i) => {
    const over = overOf(passage);
    const quote = passage.lines.map((line) => `   > ${line}`.trimEnd()).join("\n");
    return `${i + 1}. \`${placeOf(passage)}\`${over && `, ${over}`}\n\n${quote}`;
  });
  return `${[title, NO_ANSWER, ...found, read].join("\n\n")}\n`;
}

/** The passages as data, for a structured output without a schema. */
export function asData(passages: readonly Passage[]) {
  return {
    passages: passages.map((passage) => ({
      source: passage.id,
      line: passage.line,
      heading: overOf(passage),
      text: passage.lines.join("\n"),
    })),
  };
}

/** Where a passage stands, as in `docs/a.md:12`. */
function placeOf({ id, line }: Passage): string {
  return `${id}:${line}`;
}

/** The headings over a passage, and over a row the titles of its columns. */
function overOf({ heading, header = [] }: Passage): string {
  return [heading, header.filter(Boolean).join("; ")].filter(Boolean).join(" / ");
}

function readLine({ documents, notes, unread }: Description): string {
  const read = `${documents} ${documents === 1 ? "file was" : "files were"} read.`;
  const named = unread.length === 0 ? [] : [`Not read: ${listOf(unread)}.`];
  return [read, ...notes, ...named].join(" ");
}
