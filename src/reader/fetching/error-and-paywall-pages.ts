import { buildAlternation, cacheByVocabulary, lowerCase } from "../languages/patterns.js";
import { getVocabulary } from "../languages/vocabulary.js";
import type { ReadDocument } from "../parsing/documents/document-reader.js";

/** An error page has less text than this, in characters; a longer page is content, even if its title looks like an error. */
const MOST_ABSENT = 5_000;
const MOST_WALL = 2_000;
/** The longest title or heading that may announce an error, in characters; a longer one belongs to content. */
const LONGEST = 80;
/** Titles of pages that ask the reader to prove that they are human. */
const CHALLENGE =
  /^(?:just a moment|attention required|access (?:to this page has been )?denied|are you a (?:robot|human)|robot check|pardon our interruption|security check|human verification)/;

const patterns = cacheByVocabulary((vocabulary) => {
  const matchWords = (name: string) => buildAlternation(vocabulary.list(name));
  return {
    absent: new RegExp(
      [
        `${matchWords("documents")}[^"“”]{0,30}?${matchWords("absent")}(?: \\(?404\\)?)?$`,
        `^[^"“”]{0,20}?${matchWords("unfound")}.{0,12}?${matchWords("documents")}`,
        `^(?:${matchWords("error")} )?404(?: ${matchWords("error")}| \\(?${matchWords("absent")}\\)?|$)|^${matchWords("absent")}$`,
      ].join("|"),
    ),
    login: new RegExp(`^(?:please |bitte )?${matchWords("login")}(?![a-z])`),
    consent: new RegExp(matchWords("consent")),
    paid: new RegExp(`^.{0,60}${matchWords("paid")}`),
  };
});

/** Recognizes an error, login or consent page by its title and first heading. Returns the reason; undefined for other pages. */
export function detectErrorPage({ title = "", blocks }: ReadDocument): string | undefined {
  const { absent, login, consent } = patterns(getVocabulary(undefined));
  const size = measureTextSize(blocks);
  const heading = blocks.find((block) => block.heading !== "")?.heading.split(" / ")[0] ?? "";
  const hasPhrase = (pattern: RegExp) =>
    [title, heading, blocks[0]?.lines[0] ?? ""]
      .flatMap((text) =>
        lowerCase(text)
          .replaceAll("’", "'")
          .split(/\s[|–—·:»-]\s/),
      )
      .some((part) => part.length <= LONGEST && pattern.test(part.replace(/^[\s¡!]+|[\s!.…]+$/g, "")));
  if (size < MOST_ABSENT && hasPhrase(absent)) return "it says that the page does not exist";
  if (size < MOST_WALL && hasPhrase(login)) return "it shows its text only after a login";
  if (size < MOST_WALL && hasPhrase(consent)) return "it shows its text only after a consent";
  return size < MOST_WALL / 2 && hasPhrase(CHALLENGE) ? "it asks whether the reader is human" : undefined;
}

/** Returns whether a page says that the rest of its text is only for paying readers. */
export function isBehindPayment({ blocks, isPaid = false }: ReadDocument): boolean {
  const { paid } = patterns(getVocabulary(undefined));
  return (
    isPaid ||
    (measureTextSize(blocks) < MOST_ABSENT &&
      blocks.some(({ lines }) => paid.test(lowerCase(lines[0] ?? ""))))
  );
}

function measureTextSize(blocks: ReadDocument["blocks"]): number {
  return blocks.reduce((sum, { lines }) => sum + lines.join().length, 0);
}
