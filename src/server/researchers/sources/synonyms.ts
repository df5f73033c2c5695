import { stem } from "./words.js";

/** Words that documents use for one another. General ones only: what a subject calls things is in its own text. */
const GROUPS = [
  "maximum max limit largest most",
  "minimum min least smallest",
  "delete remove erase drop prune",
  "stop cancel abort terminate kill end",
  "start begin launch run",
  "folder directory",
  "size length",
  "change modify update alter edit",
  "create make build add",
  "forbid prohibit disallow",
  "allow permit enable",
  "error failure exception",
  "fee price charge cost",
  "publish release",
  "undo revert reset",
  "wait timeout delay",
  "parameter argument option",
  "login authenticate",
  "password credential secret",
  "default otherwise unless",
  "show display print",
  "function method",
];

const table = new Map<string, string[]>();
for (const group of GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const one of stems)
    table.set(one, [...(table.get(one) ?? []), ...stems.filter((other) => other !== one)]);
}

/** The stems of words that may stand for the one with this stem. */
export function related(term: string): readonly string[] {
  return table.get(term) ?? [];
}
