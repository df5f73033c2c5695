import { words } from "../sources/words.js";

/** Parts of property names that say what a value is for the program, not what it is about. */
const FILLERS = new Set(
  words(
    "max maximum min minimum num number count counts total amount value values name names list per each id default",
  ),
);

/** Units by the words and endings of names that stand for them. */
const UNITS: readonly [string, RegExp][] = [
  ["ms", /^(?:ms|msecs?|millis|milliseconds?)$/i],
  ["s", /^(?:s|secs?|seconds?)$/i],
  ["min", /^(?:min|mins|minutes?)$/i],
  ["h", /^(?:h|hrs?|hours?|hourly)$/i],
  ["d", /^(?:d|days?|daily)$/i],
  ["week", /^(?:weeks?|weekly)$/i],
  ["month", /^(?:months?|monthly)$/i],
  ["year", /^(?:years?|yearly)$/i],
  ["byte", /^(?:b|bytes?)$/i],
  ["kB", /^(?:kb|kib|kilobytes?|kibibytes?)$/i],
  ["MB", /^(?:mb|mib|megabytes?|mebibytes?)$/i],
  ["GB", /^(?:gb|gib|gigabytes?|gibibytes?)$/i],
  ["TB", /^(?:tb|tib|terabytes?)$/i],
  ["bit", /^bits?$/i],
  ["%", /^(?:%|percent|percentage)$/i],
];

/** What a question can ask a value to be, and the title of a column say of its cells. */
const ROLES = {
  default:
    /\bdefaults?\b|\bunless\b|\botherwise\b|\bif (?:none|nothing|no \w+|not)\b|\bwhen (?:none|nothing|no \w+)\b/i,
  maximum:
    /\bmax(?:imum|imal)?\b|\bmost\b|\blimit\b|\blargest\b|\blongest\b|\bup to\b|\bhow (?:long|large|big|many) (?:can|may)\b|\bwithin how\b/i,
  minimum: /\bmin(?:imum|imal)?\b|\bleast\b|\bsmallest\b|\bshortest\b/i,
} as const;
export type ValueRole = keyof typeof ROLES;

/** Words of a question that ask for a role and name no subject. */
export const ROLE_WORDS = /\b(?:by default|defaults?|max(?:imum)?|min(?:imum)?|at most|at least)\b/gi;

/** What a question and a property's name and description ask a value to be; an identifier asks for nothing. */
export function rolesAsked(prompt: string, name: string, about: string): ValueRole[] {
  const isIdentifier = prompt.includes(name) && /[_\p{Lu}]/u.test(name);
  const asked = `${prompt} ${about}`.replace(/[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu, " ");
  const text = isIdentifier ? asked : `${asked} ${apart(name)}`;
  return (Object.keys(ROLES) as ValueRole[]).filter((role) => ROLES[role].test(text));
}

/** Whether the title of a column, or a name, says that its values are one of `roles`. */
export function saysRole(title: string, roles: readonly ValueRole[]): boolean {
  return roles.some((role) => ROLES[role].test(apart(title)));
}

/** The words of a property's name that a text about it would have; all of them when they are all fillers. */
export function propertyWords(name: string): Set<string> {
  const all = words(apart(name));
  const telling = all.filter((word) => !FILLERS.has(word));
  return new Set(telling.length > 0 ? telling : all);
}

/** How many words of `a` are in `b`. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((word) => b.has(word)).length;
}

/** An identifier as separate words: "maxPerHour" and "max_per_hour" are "max per hour". */
export function apart(name: string): string {
  return name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replace(/[_-]+/g, " ");
}

/** The unit that a word stands for; undefined if the word is not a unit. */
export function unitOf(word: string): string | undefined {
  return UNITS.find(([, pattern]) => pattern.test(word))?.[0];
}

/** The units that `text` names in whole words of at least two letters. */
export function unitsIn(text: string): Set<string> {
  const found = (text.match(/[\p{L}%]+/gu) ?? []).flatMap((word) =>
    word.length > 1 || word === "%" ? (unitOf(word) ?? []) : [],
  );
  return new Set(found);
}
