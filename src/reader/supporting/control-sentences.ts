import { joinOnOneLine, type Pause } from "../checking/indexed-page.js";
import { analyseClaim, type Sought } from "../checking/judge-sentence.js";
import { listContentKeys } from "../matching/words.js";
import { splitSentences } from "../parsing/split-sentences.js";
import type { PageExcerpt, Piece } from "./page-excerpt.js";
import { proveAnswer } from "./prove-answer.js";
import type { Question } from "./verdict-request.js";

/** The least and the largest length of a control in characters, and the least number of content words. */
const [SHORTEST, LONGEST] = [12, 300];
const LEAST_WORDS = 3;
/** How many times to try to invent a statement that is on no page. */
const MOST_TRIES = 30;
const [FIRST_YEAR, YEARS] = [1_900, 200];
const YEAR = /(?<!\d)(?:1\d|20)\d\d(?!\d)/;
const END = /[.!。！]*$/;
/** Matches characters that a report may write differently from a page. */
const MARKS = /["'“”„‘’«»[\](){}|*_`]/;

/**
 * Makes the two controls of a request: questions with known answers that a model should not be able to distinguish from those
 * of the report. `stated` is copied from a page, so that only "supported" is right; for `invented`, "supported" is wrong.
 * Undefined if the pieces offer no suitable sentences.
 */
export async function createControls(
  questions: readonly Question[],
  shown: ReadonlySet<Piece>,
  { random, pause }: { random: () => number; pause: Pause },
): Promise<{ stated: Question; invented: Question } | undefined> {
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const texts = questions.map(({ claim }) => claim.text);
  const hasEnds = texts.filter((text) => /[.!。！]$/.test(text)).length * 2 >= texts.length;
  const copies = [...shown].flatMap((piece) =>
    listControlSentences(piece).flatMap((text) => {
      const copy = buildQuestion(hasEnds ? text : text.replace(END, ""), piece.page);
      const reply = { sentence: 1, verdict: "supported", quote: text } as const;
      return !texts.includes(text) && proveAnswer(copy.claim, reply, [piece], false) ? [copy] : [];
    }),
  );
  const pickBest = (all: readonly Question[]) => {
    const ranks = all.map((copy) => rankControl(copy, hasEnds));
    return pick(all.filter((_, i) => ranks[i] === Math.max(...ranks)));
  };
  const stated = pickBest(copies);
  if (!stated) return undefined;
  const { claim, page } = pickBest(copies.filter((copy) => copy !== stated)) ?? stated;
  for (let nth = 0; nth < MOST_TRIES; nth++) {
    const figure = pick(claim.sought.filter(isChangeable));
    const { start, end } = figure ?? { start: claim.text.replace(END, "").length, end: claim.text.length };
    const changed = figure
      ? changeDigits(figure.text, random)
      : ` (${chooseYear(random)})${claim.text.slice(start)}`;
    const invented = buildQuestion(claim.text.slice(0, start) + changed + claim.text.slice(end), page);
    if (await isOnNoShownPage(invented, start, shown, pause)) return { stated, invented };
  }
  return undefined;
}

function buildQuestion(text: string, page: PageExcerpt): Question {
  return { claim: analyseClaim(text, page.content.language, ""), page };
}

/** Lists the sentences of a piece that can be controls. A row is one sentence. */
function listControlSentences({ text, isRow }: Piece): string[] {
  const all = isRow ? [text] : Array.from(splitSentences(text), ({ segment }) => segment);
  return all.map(joinOnOneLine).filter((line) => {
    const isFit = line.length >= SHORTEST && line.length <= LONGEST && !/[?？:：]$/.test(line);
    return isFit && listContentKeys(line).length >= LEAST_WORDS;
  });
}

/** Ranks a possible control. The best have a figure, are whole sentences, and have no characters that a report may change. */
function rankControl({ claim: { text, sought } }: Question, hasEnds: boolean): number {
  const isSentence = !hasEnds || /[.!。！]$/.test(text);
  return 4 * Number(sought.some(isChangeable)) + 2 * Number(isSentence) + Number(!MARKS.test(text));
}

/** Returns whether an item has digits that can be changed; for a date, a year. */
function isChangeable(item: Sought): item is Exclude<Sought, { kind: "quotation" }> {
  return item.kind === "date" ? YEAR.test(item.text) : item.kind === "number" && /\d/.test(item.text);
}

/** Replaces the digits of a figure, or the year of a date, with random digits. */
function changeDigits(figure: string, random: () => number): string {
  if (YEAR.test(figure)) return figure.replace(YEAR, chooseYear(random));
  const first = figure.search(/[1-9]/);
  return figure.replace(
    /\d/g,
    (_, at: number) => `${Math.floor(at === first ? 1 + random() * 9 : random() * 10)}`,
  );
}

function chooseYear(random: () => number): string {
  return `${FIRST_YEAR + Math.floor(random() * YEARS)}`;
}

/** Returns whether no shown page has the first figure of a question after `start`. */
async function isOnNoShownPage(
  { claim }: Question,
  start: number,
  shown: ReadonlySet<Piece>,
  pause: Pause,
): Promise<boolean> {
  const figure = claim.sought.filter(isChangeable).find((item) => item.start >= start);
  if (!figure) return false;
  for (const page of new Set(Array.from(shown, (piece) => piece.page)))
    if ((await page.content.index(claim.language, pause)).figures.findPlaces(figure).count > 0) return false;
  return true;
}
