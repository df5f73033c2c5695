import { existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { readRegularFile } from "./read-file.js";

/** One .gitignore with the folder it speaks of. */
export interface Rules {
  folder: string;
  ignore: Ignore;
}

/** git tells cases apart where the file system does. */
const AS_GIT = { ignorecase: process.platform !== "linux" };
/** Each rule is tried on each path: 256 KiB are some ten thousand rules. */
const MAX_RULES_BYTES = 262_144;

/** The .gitignore files between the root of the repository around `root` and `root` itself. */
export function rulesAbove(root: string): Rules[] {
  const above: string[] = [];
  for (let path = root; ; path = dirname(path)) {
    if (path !== root) above.unshift(path);
    if (existsSync(join(path, ".git"))) break;
    if (dirname(path) === path) return [];
  }
  let rules: Rules[] = [];
  for (const path of above) rules = withRulesOf(path, rules) ?? rules;
  // A person who names an ignored folder as the sources wants it to be read.
  return above.length > 0 && isIgnored(root, true, rules) ? [] : rules;
}

/** `rules` and those of the .gitignore in `folder`; undefined if there is one that is too large to be read. */
export function withRulesOf(folder: string, rules: Rules[]): Rules[] | undefined {
  const text = readRegularFile(join(folder, ".gitignore"), MAX_RULES_BYTES);
  if (text === "too large") return undefined;
  if (text === undefined) return rules;
  return [...rules, { folder, ignore: ignore(AS_GIT).add(text.toString("utf8")) }];
}

/** As git does it: the last rule that says anything wins, an inner .gitignore coming after an outer one. */
export function isIgnored(path: string, folder: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { folder: base, ignore } of rules) {
    const said = ignore.test(relative(base, path).split(sep).join("/") + (folder ? "/" : ""));
    if (said.ignored) ignored = true;
    else if (said.unignored) ignored = false;
  }
  return ignored;
}
