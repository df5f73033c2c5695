import type { ArgumentEntry, OptionEntry } from "../help/help-document.js";
import type { Topic } from "../help/topics.js";

/**
 * Restores the words as they were typed. bash (from version 4) ends a word at each character of `COMP_WORDBREAKS`, so that
 * `--tier=free` is three words and `@last` two; every version replaces only what follows the last `=` or `:`. `breaks` is
 * empty for the other shells, which do neither. Also returns how many characters of the last word the shell keeps. Pure.
 */
export function joinBrokenWords(words: readonly string[], breaks: string) {
  const joining = [..."=@:"].filter((char) => breaks.includes(char));
  const isBreak = (word: string) => word !== "" && [...word].every((char) => joining.includes(char));
  const whole: string[] = [];
  let isOpen = false;
  for (const word of words) {
    const before = whole.at(-1);
    // An @ begins a word; the other characters continue the current word.
    const continues = isOpen || (isBreak(word) && !word.startsWith("@"));
    if (before !== undefined && continues) whole[whole.length - 1] = before + word;
    else whole.push(word);
    isOpen = isBreak(word);
  }
  const last = whole.at(-1) ?? "";
  // readline does not end the word at an @, which it calls a special prefix.
  const ends = joining.filter((char) => char !== "@").map((char) => last.lastIndexOf(char));
  return { whole, typedBefore: Math.max(...ends, -1) + 1 };
}

/** A parsed command line, and what can be completed at the cursor. */
export interface CommandLine {
  /** The command, such as `config get`; empty if there is none yet. */
  command: string;
  /** The word at the cursor, as far as it was typed, without a flag and its `=`. */
  current: string;
  /** The flag and its `=`, if they precede the value in the same word. */
  lead: string;
  /** The flag's value or the argument that is expected; undefined if there is none. */
  value: WordValue | undefined;
  options: readonly OptionNode[];
  commands: readonly string[];
  chosen: { profile?: string; baseUrl?: string };
  given: readonly string[];
}

/** Parses the words after `research` up to the cursor. The last word is the one at the cursor, and may be empty. Pure. */
export function parseCommandLine(words: readonly string[], table: CompletionTable): CommandLine {
  let command = "";
  let flag: OptionNode | undefined;
  let isOver = false;
  const given: string[] = [];
  const chosen: CommandLine["chosen"] = {};
  for (const word of words.slice(0, -1)) {
    if (flag) {
      recordFlagValue(chosen, flag, word);
      flag = undefined;
    } else if (isOver || !word.startsWith("-") || word === "-") {
      const below = `${command} ${word}`.trim();
      if (given.length === 0 && table.commands[below]) command = below;
      else given.push(word);
    } else if (word === "--") isOver = true;
    else {
      const [name = "", ...value] = word.split("=");
      const option = listOptions(table, command).find(
        (candidate) => candidate.name === name || candidate.short === name,
      );
      if (option?.value && value.length > 0) recordFlagValue(chosen, option, value.join("="));
      else if (option?.value) flag = option;
    }
  }
  const [, lead = "", typed = ""] = /^(--[^=]+=)(.*)$/s.exec(words.at(-1) ?? "") ?? ["", "", words.at(-1)];
  const here = { command, given, chosen, current: typed, lead, options: [], commands: [] };
  if (flag) return { ...here, value: describeFlagValue(flag) };
  if (lead !== "" && !isOver) {
    const option = listOptions(table, command).find(({ name }) => `${name}=` === lead);
    return { ...here, value: option && describeFlagValue(option) };
  }
  if (typed.startsWith("-") && !isOver)
    return { ...here, value: undefined, options: listOptions(table, command) };
  const commands = given.length === 0 ? listCommandsBelow(table, command) : [];
  return { ...here, commands, value: findArgument(table, command, given.length) };
}

function recordFlagValue(chosen: CommandLine["chosen"], { name }: OptionNode, value: string): void {
  if (name === "--profile") chosen.profile = value;
  if (name === "--base-url") chosen.baseUrl = value;
}

function describeFlagValue({ name, value, choices }: OptionNode): WordValue {
  // The help calls the value of --profile `name`, like that of other flags.
  return { kind: name === "--profile" ? "profile" : (value ?? ""), choices };
}

function listOptions(table: CompletionTable, command: string): OptionNode[] {
  return [...(table.commands[command]?.options ?? []), ...table.options];
}

function findArgument(table: CompletionTable, command: string, index: number): WordValue | undefined {
  const all = table.commands[command]?.arguments ?? [];
  const last = all.at(-1);
  const argument = all[index] ?? (last?.variadic ? last : undefined);
  return argument && { kind: argument.name, choices: argument.choices };
}

function listCommandsBelow(table: CompletionTable, command: string): string[] {
  const start = command === "" ? "" : `${command} `;
  return Object.keys(table.commands).filter(
    (name) => name.startsWith(start) && !name.slice(start.length).includes(" "),
  );
}

/** An expected value. `kind`: its name in the help, without brackets. `choices`: all values, if the help lists them. */
interface WordValue {
  kind: string;
  choices: readonly string[] | null;
}

type OptionNode = Pick<OptionEntry, "name" | "short" | "description" | "value" | "choices">;

/** The commands and flags, which build/completion-table.js extracts from the help. */
export interface CompletionTable {
  options: OptionNode[];
  commands: Record<
    string,
    {
      summary: string;
      arguments: Pick<ArgumentEntry, "name" | "variadic" | "choices">[];
      options: OptionNode[];
    }
  >;
  topics: Pick<Topic, "name" | "summary">[];
}
