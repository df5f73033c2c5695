import type { CompletionTable, OptionNode, ValueNode } from "./table.js";

/** What stands on a command line, and what may stand where the cursor is. */
export interface CommandLine {
  /** The command that the words name: `config get`; empty for none yet. */
  command: string;
  /** What the current word is so far, without a flag before its `=`. */
  current: string;
  /** The flag and the `=` before the current value, in the same word. */
  lead: string;
  /** The value that is wanted: of a flag, or an argument; undefined if neither is. */
  value: ValueNode | undefined;
  /** The flags that may stand here. */
  options: readonly OptionNode[];
  /** The commands that may stand here. */
  commands: readonly string[];
  /** The values of the flags that choose where requests go. */
  chosen: { profile?: string; baseUrl?: string };
  /** The arguments before the current word. */
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
      const option = optionsOf(table, command).find((one) => one.name === name || one.short === name);
      if (option?.value && value.length > 0) choose(chosen, option, value.join("="));
      else if (option?.value) flag = option;
    }
  }
  const [, lead = "", typed = ""] = /^(--[^=]+=)(.*)$/s.exec(words.at(-1) ?? "") ?? ["", "", words.at(-1)];
  const here = { command, given, chosen, current: typed, lead, options: [], commands: [] };
  if (flag) return { ...here, value: valueOfFlag(flag) };
  if (lead !== "" && !isOver) {
    const option = optionsOf(table, command).find(({ name }) => `${name}=` === lead);
    return { ...here, value: option && valueOfFlag(option) };
  }
  if (typed.startsWith("-") && !isOver)
    return { ...here, value: undefined, options: optionsOf(table, command) };
  const commands = given.length === 0 ? commandsBelow(table, command) : [];
  return { ...here, commands, value: argumentOf(table, command, given.length) };
}

function choose(chosen: CommandLine["chosen"], { name }: OptionNode, value: string): void {
  if (name === "--profile") chosen.profile = value;
  if (name === "--base-url") chosen.baseUrl = value;
}

function valueOfFlag({ name, value = "", choices }: OptionNode): ValueNode {
  // Its value is called `name` in the help, as that of other flags is.
  const kind = name === "--profile" ? "profile" : value;
  return choices ? { value: kind, choices } : { value: kind };
}

function optionsOf(table: CompletionTable, command: string): OptionNode[] {
  return [...(table.commands[command]?.options ?? []), ...table.options];
}

function argumentOf(table: CompletionTable, command: string, index: number): ValueNode | undefined {
  const all = table.commands[command]?.arguments ?? [];
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : undefined);
}

function commandsBelow(table: CompletionTable, command: string): string[] {
  const start = command === "" ? "" : `${command} `;
  return Object.keys(table.commands).filter(
    (name) => name.startsWith(start) && !name.slice(start.length).includes(" "),
  );
}
