/** An argument or the value of a flag: what completes it is known by its name in the help, or by its choices. */
export interface ValueNode {
  /** As in the help, without its brackets: `id`, `path`, `duration`. */
  value: string;
  choices?: string[];
}

export interface ArgumentNode extends ValueNode {
  variadic: boolean;
}

/** A flag; one without `value` is a switch. */
export interface OptionNode extends Partial<ValueNode> {
  name: string;
  short?: string;
  /** In a few words. */
  about: string;
}

export interface CommandNode {
  about: string;
  arguments: ArgumentNode[];
  options: OptionNode[];
}

/** What can be typed, as build/completion-table.js takes it from the help. */
export interface CompletionTable {
  /** The flags of every command. */
  options: OptionNode[];
  /** By the words after `research`: `config get`. */
  commands: Record<string, CommandNode>;
  topics: { name: string; about: string }[];
}
