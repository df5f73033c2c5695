import { buildAlternation, cacheByVocabulary } from "../languages/patterns.js";
import signs from "./units.yaml";

/** A unit as it stands beside a number. */
export interface Unit {
  id: string;
  /** What it measures. */
  kind: string;
  /** How many of the smallest unit of its kind it is; more than one where its sign is used for both, as for a KB of 1,000 or 1,024 bytes. */
  factors: readonly number[];
  /** What is added to that: where 0 °C stands in kelvin. */
  offset: number;
  /** What its word names, too: pounds are a weight and a currency. */
  or?: Unit;
}

/** What a place in an order or a multiple has in place of a unit: `2nd`, `3-fold`. */
export const ORDER: Unit = { id: "order", kind: "order", factors: [1], offset: 0 };

const UNITS = new Map<string, { unit: Unit; signs: string[] }>();
for (const [kind, units] of Object.entries(signs))
  for (const [id, [factors, written, offset = 0]] of Object.entries(
    units as Record<string, [number | string, string, number?]>,
  ))
    UNITS.set(id, {
      unit: { id, kind, factors: `${factors}`.split(" ").map(Number), offset },
      signs: written.split(" ").filter(Boolean),
    });

/** The signs and words for units that a text of some languages may have. */
export const unitNames = cacheByVocabulary((vocabulary) => {
  const exact = new Map<string, Unit>();
  const folded = new Map<string, Unit>();
  for (const { unit, signs } of UNITS.values())
    for (const sign of signs)
      if (sign.startsWith("=")) exact.set(sign.slice(1), unit);
      else folded.set(sign, unit);
  for (const [word, id] of vocabulary.listEntries("units")) {
    const unit = UNITS.get(id)?.unit;
    const other = folded.get(word);
    if (unit) folded.set(word, other && other.kind !== unit.kind ? { ...other, or: unit } : (other ?? unit));
  }
  return {
    /** The unit that a word or sign names; undefined if it names none. */
    named: (word: string): Unit | undefined =>
      exact.get(word) ??
      folded.get(
        word
          .toLowerCase()
          .replace("μ", "µ")
          .replace(/[\s-]+/g, " "),
      ) ??
      folded.get(word.toLowerCase()),
    /** For a pattern with `iu`: a sign or word that may be a unit. */
    pattern: buildAlternation([...exact.keys(), ...folded.keys()].map((name) => name.toLowerCase())),
  };
});

/** What a number of a unit is counted in, so that equal amounts are equal: the kind, but of money the currency. */
export function measureOf({ kind, id }: Unit): string {
  return kind === "money" ? id : kind;
}

/** The other units of the kind of a unit. */
export function listOtherUnits({ id, kind }: Unit): readonly string[] {
  const others =
    OTHERS.get(id) ??
    [...UNITS].flatMap(([other, { unit }]) => (unit.kind === kind && other !== id ? other : []));
  OTHERS.set(id, others);
  return others;
}
const OTHERS = new Map<string, readonly string[]>();

/** How many of the smallest unit of its kind an amount is. What fell by 3 % changed by -3 %; only degrees have a sign. */
export function convertAmount(value: number, { factors, offset }: Unit): number[] {
  return factors.map((factor) => (offset === 0 ? Math.abs(value) : value) * factor + offset);
}
