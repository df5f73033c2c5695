import { buildAlternation, cacheByVocabulary } from "../languages/patterns.js";
import kinds from "./units.yaml";

/** A unit of a number. */
export interface Unit {
  id: string;
  /** The kind of quantity, such as length. */
  kind: string;
  /** The measure in which amounts are compared: the kind of the unit or, for money, the currency. */
  measure: string;
  /** The ids of the other units of the same kind. */
  others: readonly string[];
  /** The names of the digits of a number with this unit, and of a number below a heading with it, in an index of figures. */
  digits: string;
  digitsBelow: string;
  /** The size in the smallest unit of the kind; several if the sign is ambiguous: a KB is 1,000 or 1,024 bytes. */
  factors: readonly number[];
  /** What is added after scaling, such as 0 °C in kelvin. */
  offset: number;
  /** Another unit with the same name: pounds are a weight and a currency. */
  or?: Unit;
}

/** Stands for the unit of a rank or a multiple: `2nd`, `3-fold`. */
export const ORDER: Unit = buildUnit("order", "order", [1]);

const UNITS = new Map<string, Unit>();
const SIGNS: [sign: string, id: string][] = [];
for (const [kind, units] of Object.entries(kinds as Record<string, Record<string, UnitEntry>>))
  for (const [id, [factors, signs, offset]] of Object.entries(units)) {
    const others = Object.keys(units).filter((other) => other !== id);
    UNITS.set(id, buildUnit(id, kind, `${factors}`.split(" ").map(Number), offset, others));
    for (const sign of signs.split(" ").filter(Boolean)) SIGNS.push([sign, id]);
  }
type UnitEntry = [factors: number | string, signs: string, offset?: number];

function buildUnit(id: string, kind: string, factors: number[], offset = 0, others: string[] = []): Unit {
  const measure = kind === "money" ? id : kind;
  return { id, kind, measure, factors, offset, others, digits: `=${id}`, digitsBelow: `~${id}` };
}

/** The signs and names of units in the languages of a vocabulary. */
export const unitNames = cacheByVocabulary((vocabulary) => {
  const exact = new Map<string, Unit>();
  const folded = new Map<string, Unit>();
  const words = [["", ""] as const, ...vocabulary.listEntries("prefixes")].flatMap(([prefix, sign]) =>
    vocabulary.listEntries("units").map(([word, id]) => [prefix + word, sign + id] as const),
  );
  for (const [name, id] of [...SIGNS, ...words]) {
    const unit = UNITS.get(id);
    const other = folded.get(foldUnitName(name));
    if (unit && name.startsWith("=")) exact.set(name.slice(1), unit);
    else if (unit)
      folded.set(
        foldUnitName(name),
        other && other.kind !== unit.kind ? { ...other, or: unit } : (other ?? unit),
      );
  }
  return {
    /** Returns the unit with this name or sign; undefined if there is none. */
    findUnit: (word: string): Unit | undefined => exact.get(word) ?? folded.get(foldUnitName(word)),
    /** A pattern (for the flags `iu`) that matches the signs and names of units. */
    pattern: buildAlternation([...exact.keys(), ...folded.keys()].map(foldUnitName)),
  };
});

function foldUnitName(name: string): string {
  return name
    .toLowerCase()
    .replace("μ", "µ")
    .replace(/[\s-]+/g, " ");
}

/** Lists all units with the same name: pounds are a weight and a currency. */
export function listNamesakeUnits(unit: Unit): Unit[] {
  return [unit, ...(unit.or ? [unit.or] : [])];
}

/** Converts an amount to the smallest unit of its kind. Only degrees keep their sign, because a fall of 3 % equals -3 %. */
export function convertAmount(value: number, { factors, offset }: Unit): number[] {
  return factors.map((factor) => (offset === 0 ? Math.abs(value) : value) * factor + offset);
}
