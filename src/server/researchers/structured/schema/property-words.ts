import { words } from "../../sources/words.js";

/** Parts of property names that say what a value is for the program, not what it is about. */
const FILLERS = new Set(
  words(
    "max maximum min minimum num number count counts total amount value values name names list per each id",
  ),
);

/** The words of a property's name that a text about it would have; all of them when they are all fillers. */
export function propertyWords(name: string): Set<string> {
  const all = words(apart(name));
  const telling = all.filter((word) => !FILLERS.has(word));
  return new Set(telling.length > 0 ? telling : all);
}

/** How many words of `a` are in `b`. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both;
}

/** An identifier as separate words: "maxPerHour" and "max_per_hour" are "max per hour". */
export function apart(name: string): string {
  return name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replace(/[_-]+/g, " ");
}
