import type { ArgumentEntry, OptionEntry } from "../help/document.js";
import type { Topic } from "../help/topics.js";

/**
 * Undoes what bash does to a command line: since version 4 it ends a word at each character of `COMP_WORDBREAKS`, so
 * that `--tier=free` is three words and `@last` two; in every version it replaces only what follows the last `=` or `:`.
 * `breaks` is empty for the other shells, which do neither. Returns the words as they were typed, and how much of the last
 * one the shell leaves as it is, in characters. Pure.
 */
export function joinWords(words: readonly string[], breaks: string) {
  const joining = [..."=@:"].filter((char) => breaks.includes(char));
  const isBreak = (word: string) => word !== "" && [...word].every((char) => joining.includes(char));
  const whole: string[] = [];
  let isOpen = false;
  for (const word of words) {
    const before = whole.at(-1);
    // An at sign begins a word; the other characters are inside one.
    const continues = isOpen || (isBreak(word) && !word.startsWith("@"));
    if (before !== undefined && continues) whole[whole.length - 1] = before + word;
    else whole.push(word);
    isOpen = isBreak(word);
  }
  const last = whole.at(-1) ?? "";
  // An at sign is what readline calls a special prefix: it stays a part of the word.
  const ends = joining.filter((char) => char !== "@").map((char) => last.lastIndexOf(char));
  return { whole, typedBefore: Math.max(...ends, -1) + 1 };
}

/** A parsed command line, and what is expected at the cursor. */
export interface CommandLine {
  /** The command, such as `config get`; empty if there is none yet. */
  command: string;
  /** The current word so far, without a flag and its `=`. */
  current: string;
  /** The flag and the `=` before the current value, in the same word. */
  lead: string;
  /** The expected value, of a flag or argument; undefined if neither is expected. */
  value: WordValue | undefined;
  options: readonly OptionNode[];
  commands: readonly string[];
  chosen: { profile?: string; baseUrl?: string };
  given: readonly string[];
}

/** Reads the words after `research` up to the cursor; the last one is the current one, and may be empty. Pure. */
export function readWords(words: readonly string[], table: CompletionTable): CommandLine {
  let command = "";
  let flag: OptionNode | undefined;
  let isOver = false;
  const given: string[] = [];
  const chosen: CommandLine["chosen"] = {};
  for (const word of words.slice(0, -1)) {
    if (flag) {
      choose(chosen, flag, word);
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
      if (option?.value && value.length > 0) choose(chosen, option, value.join("="));
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

function choose(chosen: CommandLine["chosen"], { name }: OptionNode, value: string): void {
  if (name === "--profile") chosen.profile = value;
  if (name === "--base-url") chosen.baseUrl = value;
}

function describeFlagValue({ name, value, choices }: OptionNode): WordValue {
  // The help calls its value `name`, as for other flags.
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

/** What is wanted: what completes it is known by its name in the help, without brackets, or by its choices. */
interface WordValue {
  kind: string;
  choices: readonly string[] | null;
}

type OptionNode = Pick<OptionEntry, "name" | "short" | "description" | "value" | "choices">;

/** The commands and flags, which build/completion-table.js takes from the help. */
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
