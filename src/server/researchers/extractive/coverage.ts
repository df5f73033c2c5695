import type { Passage } from "../sources/source.js";
import { related, words } from "../sources/words.js";
import { itemName } from "./sentences.js";

/** What a question is about: each of its words with what it tells. */
export type Weights = ReadonlyMap<string, number>;

/** What stands around a window: each a set of words. */
export interface WindowContext {
  /** The nearest heading; for a row of a table its first cell, for an item of a list the name that it begins with. */
  label: ReadonlySet<string>;
  isRow: boolean;
  /** The label, and the titles of a table's columns. */
  near: ReadonlySet<string>;
  /** The other headings, the file's name, and the whole passage. */
  far: ReadonlySet<string>;
}

/** What a word of the question counts where it is not in the window itself; 1 is what it counts there. */
const IN_NEAR = 0.85;
const IN_FAR = 0.5;
/** As a word that may stand for it. */
const AS_RELATED = 0.6;
/** A row whose label names nothing but what is asked for, and at least this share of it, is what a table is for. */
const LABEL = 0.4;
const AS_LABEL = 1.5;
/** How much of the score the label decides. */
const BY_LABEL = 0.3;

export function contextOf({ id, heading, header = [], caption = "", lines, cells }: Passage): WindowContext {
  const headings = heading.split(" / ");
  const own = cells === undefined ? itemName(lines[0])?.name : (cells.find(Boolean) ?? "");
  const label = own ?? headings.pop() ?? "";
  return {
    isRow: cells !== undefined,
    label: new Set(words(label)),
    near: new Set(words([label, ...header].join(" "))),
    far: new Set(words([...headings, caption, id, ...lines].join(" "))),
  };
}

/** Which share of a question, by what each of its words tells, a text with `terms` has, and what is around it: 0 to 1. */
export function coverageOf(
  weights: Weights,
  terms: ReadonlySet<string>,
  { near, far }: Partial<WindowContext> = {},
): number {
  const shareOf = (term: string) => {
    if (terms.has(term)) return 1;
    if (near?.has(term)) return IN_NEAR;
    return far?.has(term) ? IN_FAR : 0;
  };
  return weighed(weights, (term) =>
    Math.max(shareOf(term), ...related(term).map((other) => AS_RELATED * shareOf(other))),
  );
}

/** A section whose label names what is asked for, and not much else, is more likely to answer it. */
export function labelFactor({ label, isRow }: WindowContext, weights: Weights): number {
  const isNamed = (term: string) => [term, ...related(term)].some((one) => label.has(one));
  const named = weighed(weights, (term) => (isNamed(term) ? 1 : 0));
  const exact = [...label].filter((term) => weights.has(term)).length / Math.max(1, label.size);
  const asLabel = isRow && exact === 1 && named >= LABEL ? AS_LABEL : 1;
  return asLabel * (1 - BY_LABEL + (BY_LABEL * (named + exact)) / 2);
}

/** The mean of what `shareOf` gives for each word, by what it tells. */
function weighed(weights: Weights, shareOf: (term: string) => number): number {
  let total = 0;
  let sum = 0;
  for (const [term, weight] of weights) {
    total += weight;
    sum += weight * shareOf(term);
  }
  return total === 0 ? 0 : sum / total;
}
