import type { ProvenAnswer } from "../checking/judge-claims.js";
import { getVocabulary } from "../languages/vocabulary.js";
import { FigureIndex } from "../matching/figure-index.js";
import { type Figure, findFigures } from "../matching/numbers.js";
import { locateQuote, QuotableText, tokenizeText } from "../matching/quotations.js";
import { listContentKeys } from "../matching/words.js";
import type { ClaimContent, Piece } from "./page-excerpt.js";
import type { SupportAnswer } from "./verdict-request.js";

/** Matches the mark of an omission in a quote. */
const GAP = /\s*(?:\[(?:…|\.{3})\]|\((?:…|\.{3})\))\s*/;
/** The most numbers of a quote that are used. With more, some calculation gives nearly any result. */
const MOST_NUMBERS = 8;

/**
 * Checks a model's answer against its quote (contract §11); undefined if the quote does not prove the answer. `given`: the
 * pieces of the page that the model was shown. `mayCompute`: whether figures of the claim may follow from those of the quote.
 */
export function proveAnswer(
  claim: ClaimContent,
  { verdict: support, quote }: SupportAnswer,
  given: readonly Piece[],
  mayCompute: boolean,
): ProvenAnswer | undefined {
  if (support === "not_stated" && tokenizeText(quote).length === 0) return { support, quote: null };
  const parts = [[quote], quote.split(GAP)]
    .map((each) => locateQuoteParts(each, given))
    .find((each) => each.length > 0);
  if (!parts) return undefined;
  const proven: ProvenAnswer & { quote: string } = {
    support,
    quote: parts.map(({ text }) => text).join(" […] "),
  };
  const keys = new Set(listContentKeys(proven.quote));
  if (support === "contradicted" && !claim.words.some((key) => keys.has(key))) return undefined;
  if (support !== "supported") return proven;
  const vocabulary = getVocabulary(given[0]?.page.content.language, claim.language);
  const stated = new FigureIndex(vocabulary);
  const computed = new FigureIndex(vocabulary);
  const quotable = new QuotableText();
  for (const part of parts) {
    stated.add(part, 0);
    quotable.add(part);
  }
  const open = claim.sought.filter((item) =>
    item.kind === "quotation"
      ? quotable.findPassage(item.text) === undefined
      : stated.findPlaces(item, claim.over).count === 0,
  );
  if (open.length === 0) return proven;
  for (const result of listCalculations(parts.flatMap(({ text }) => findFigures(text, vocabulary))))
    computed.addAmount(result);
  const isResult = (item: ClaimContent["sought"][number]) =>
    item.kind === "number" && computed.findPlaces(item, claim.over).count > 0;
  return mayCompute && open.every(isResult) ? proven : undefined;
}

/** Finds each part of a quote in the pieces. Returns them with the headings above them; empty if a part is in no piece. */
function locateQuoteParts(
  parts: readonly string[],
  given: readonly Piece[],
): { text: string; over: string }[] {
  const quoted = parts.map((part) => part.trim()).filter((part) => tokenizeText(part).length > 0);
  const places = quoted.flatMap((part) => {
    const [marks = ""] = /[^\p{L}\p{N}]*$/u.exec(part) ?? [];
    const matches = given.flatMap(({ text, over, subject = "" }) => {
      const place = locateQuote(text, part);
      if (!place) return [];
      const { start, end } = place;
      const shown = text.slice(start, end + (text.startsWith(marks, end) ? marks.length : 0));
      return { text: shown.replace(/\s+/g, " "), over: `${subject}\n${over}` };
    });
    const over = matches.map((match) => match.over).join("\n");
    return matches.slice(0, 1).map(({ text }) => ({ text, over }));
  });
  return places.length === quoted.length ? places : [];
}

/** Lists the results of calculations with figures: sums of neighbours and of pairs, differences, products, quotients, shares of the total. */
function listCalculations(figures: readonly Figure[]): number[] {
  const amounts = figures.flatMap(listAmounts).slice(0, MOST_NUMBERS);
  const results = amounts.flatMap((a, i) => {
    // A number without a unit may be of any kind, because a table row may not name the unit.
    const isLike = (b: Amount) => b !== a && (!a.kind || !b.kind || a.kind === b.kind);
    const others = amounts.filter(isLike);
    const behind = amounts.slice(i + 1).filter(isLike);
    const sums = behind.map((_, nth) =>
      behind.slice(0, nth + 1).reduce((sum, { value }) => sum + value, a.value),
    );
    const all = others.reduce((sum, { value }) => sum + value, a.value);
    const pairs = others.flatMap(({ value: b }) => [
      a.value + b,
      Math.abs(a.value - b),
      Math.abs(a.value - b) / b,
    ]);
    const products = amounts.flatMap((b) => (b === a ? [] : [a.value * b.value, a.value / b.value]));
    return [...sums, ...pairs, ...products, a.value / all];
  });
  return results.filter(Number.isFinite);
}

/** A number in a quote, with the kind of its unit; undefined without a unit. */
interface Amount {
  value: number;
  kind: string | undefined;
}

/** Lists the possible amounts of a figure. Those of a date are its possible years. */
function listAmounts(figure: Figure): Amount[] {
  if (figure.kind === "code") return [];
  if (figure.kind === "date")
    return figure.readings.map(({ year = Number.NaN }) => ({ value: year, kind: undefined }));
  return figure.readings.map(({ value }) => ({ value: Math.abs(value), kind: figure.unit?.kind }));
}
