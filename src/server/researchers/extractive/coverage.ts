import type { Passage } from "../sources/source.js";
import { related, words } from "../sources/words.js";
import { itemName } from "./sentences.js";

/** What stands around a window: each a set of words. */
export interface WindowContext {
  /** The nearest heading; for a row of a table its first cell, for an item of a list the name that it begins with. */
  nearest: ReadonlySet<string>;
  isRow: boolean;
  /** The titles of a table's columns. */
  header: ReadonlySet<string>;
  /** The other headings and the file's name. */
  outer: ReadonlySet<string>;
  /** The whole passage. */
  passage: ReadonlySet<string>;
}

/** What a word of the question counts where it is not in the window itself; 1 is what it counts there. */
const IN_NEAREST = 0.85;
const IN_OUTER = 0.5;
const IN_PASSAGE = 0.5;
/** As a word that may stand for it. */
const AS_RELATED = 0.6;
/** A row whose label names nothing but what is asked for, and at least this share of it, is what a table is for. */
const LABEL = 0.4;
const AS_LABEL = 1.5;
/** How much of the score the nearest heading decides. */
const BY_HEADING = 0.3;

export function contextOf(passage: Passage): WindowContext {
  const { id, heading, header = [], caption = "", lines } = passage;
  const at = heading.lastIndexOf(" / ");
  const label = labelOf(passage);
  const outer = label === undefined ? heading.slice(0, Math.max(0, at)) : heading;
  return {
    isRow: passage.kind === "table",
    nearest: new Set(words(label ?? heading.slice(at < 0 ? 0 : at + 3))),
    header: new Set(words(header.join(" "))),
    outer: new Set(words(`${outer} ${caption} ${id}`)),
    passage: new Set(words(lines.join(" "))),
  };
}

/** What a row of a table or an item of a list says that it is about; undefined if it does not say it. */
function labelOf({ kind, lines }: Passage): string | undefined {
  if (kind !== "table") return itemName(lines[0])?.name;
  const cells = lines.join(" ").split("|");
  return cells.find((cell) => cell.trim() !== "") ?? "";
}

/** Which share of the question's words, by what each tells, a text with `terms` in this context has: 0 to 1. */
export function coverageOf(
  weights: ReadonlyMap<string, number>,
  terms: ReadonlySet<string>,
  context: WindowContext,
): number {
  let total = 0;
  let covered = 0;
  for (const [term, weight] of weights) {
    const others = related(term).map((other) => AS_RELATED * shareOf(other, terms, context));
    total += weight;
    covered += weight * Math.max(shareOf(term, terms, context), ...others);
  }
  return total === 0 ? 0 : covered / total;
}

function shareOf(
  term: string,
  terms: ReadonlySet<string>,
  { nearest, header, outer, passage }: WindowContext,
): number {
  if (terms.has(term)) return 1;
  if (nearest.has(term) || header.has(term)) return IN_NEAREST;
  if (outer.has(term)) return IN_OUTER;
  return passage.has(term) ? IN_PASSAGE : 0;
}

/** A section whose heading names what is asked for, and not much else, is more likely to answer it. */
export function headingFactor(
  { nearest, isRow }: WindowContext,
  weights: ReadonlyMap<string, number>,
): number {
  let total = 0;
  let named = 0;
  for (const [term, weight] of weights) {
    total += weight;
    if (nearest.has(term) || related(term).some((other) => nearest.has(other))) named += weight;
  }
  const exact = [...nearest].filter((term) => weights.has(term)).length / Math.max(1, nearest.size);
  const share = total === 0 ? 0 : (named / total + exact) / 2;
  const ownName = isRow && exact === 1 && named >= LABEL * total ? AS_LABEL : 1;
  return ownName * (1 - BY_HEADING + BY_HEADING * share);
}
