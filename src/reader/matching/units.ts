import { buildAlternation, cacheByVocabulary } from "../languages/patterns.js";
import signs from "./units.yaml";

/** A unit of a number. */
export interface Unit {
  id: string;
  /** The kind of quantity that it measures. */
  kind: string;
  /** Its size in the smallest unit of its kind; several if its sign is ambiguous, as a KB is 1,000 or 1,024 bytes. */
  factors: readonly number[];
  /** Added after scaling, as for 0 °C in kelvin. */
  offset: number;
  /** Another unit with the same word: pounds are a weight and a currency. */
  or?: Unit;
}

/** Used instead of a unit for a rank or a multiple: `2nd`, `3-fold`. */
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

/** The signs and words for units in the languages of a vocabulary. */
export const unitNames = cacheByVocabulary((vocabulary) => {
  const exact = new Map<string, Unit>();
  const folded = new Map<string, Unit>();
  for (const { unit, signs } of UNITS.values())
    for (const sign of signs)
      if (sign.startsWith("=")) exact.set(sign.slice(1), unit);
      else folded.set(sign, unit);
  const prefixes = [["", ""] as const, ...vocabulary.listEntries("prefixes")];
  for (const [word, id] of vocabulary.listEntries("units"))
    for (const [prefix, sign] of prefixes) {
      const unit = UNITS.get(sign + id)?.unit;
      const other = folded.get(prefix + word);
      if (unit)
        folded.set(
          prefix + word,
          other && other.kind !== unit.kind ? { ...other, or: unit } : (other ?? unit),
        );
    }
  return {
    /** Returns the unit that a word or sign names; undefined if it names none. */
    findUnit: (word: string): Unit | undefined =>
      exact.get(word) ??
      folded.get(
        word
          .toLowerCase()
          .replace("μ", "µ")
          .replace(/[\s-]+/g, " "),
      ) ??
      folded.get(word.toLowerCase()),
    /** A pattern (for the flags `iu`) that matches the signs and words of units. */
    pattern: buildAlternation([...exact.keys(), ...folded.keys()].map((name) => name.toLowerCase())),
  };
});

/** Returns the measure in which equal amounts of a unit are equal: its kind, or for money the currency. */
export function getMeasure({ kind, id }: Unit): string {
  return kind === "money" ? id : kind;
}

/** Lists the other units of the same kind. */
export function listOtherUnits({ id, kind }: Unit): readonly string[] {
  const others =
    OTHERS.get(id) ??
    [...UNITS].flatMap(([other, { unit }]) => (unit.kind === kind && other !== id ? other : []));
  OTHERS.set(id, others);
  return others;
}
const OTHERS = new Map<string, readonly string[]>();

/** Converts an amount to the smallest unit of its kind. A fall of 3 % equals -3 %; only degrees keep their sign. */
export function convertAmount(value: number, { factors, offset }: Unit): number[] {
  return factors.map((factor) => (offset === 0 ? Math.abs(value) : value) * factor + offset);
}
