/** @typedef {import("../src/cli/completion/words.js").CompletionTable} CompletionTable */
/** @typedef {import("../src/cli/completion/words.js").CommandNode} CommandNode */

/**
 * What the shell completion needs of the help, and no more: it is read each time that Tab is pressed.
 * @param {import("../src/cli/help/document.js").HelpDocument} document
 * @returns {CompletionTable}
 */
export function completionTable({ commands, options, topics }) {
  return {
    options: [...options, ...helpFlag(commands)].map(optionOf),
    commands: Object.fromEntries(commands.map((command) => [command.name, nodeOf(command)])),
    topics: topics.map(({ name, summary }) => ({ name, about: summary })),
  };
}

/**
 * @param {import("../src/cli/help/document.js").CommandEntry} command
 * @returns {CommandNode}
 */
function nodeOf({ summary, arguments: args, options }) {
  return {
    about: summary,
    arguments: args.map(({ name, variadic, choices }) => ({
      value: name,
      variadic,
      ...(choices && { choices }),
    })),
    options: options.filter(({ global }) => !global).map(optionOf),
  };
}

/** @param {import("../src/cli/help/document.js").CommandEntry[]} commands */
function helpFlag(commands) {
  return commands[0]?.options.filter(({ name }) => name === "--help") ?? [];
}

/**
 * @param {import("../src/cli/help/document.js").OptionEntry} option
 * @returns {import("../src/cli/completion/words.js").OptionNode}
 */
function optionOf({ name, short, description, value, choices }) {
  return {
    name,
    about: description,
    ...(short && { short }),
    ...(value && { value }),
    ...(choices && { choices }),
  };
}
