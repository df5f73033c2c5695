/** @typedef {import("../src/cli/help/help-document.js").OptionEntry} OptionEntry */

/**
 * What the shell completion needs of the help, and no more: it is read each time that Tab is pressed.
 * @param {import("../src/cli/help/help-document.js").HelpDocument} document
 * @returns {import("../src/cli/completion/parse-command-line.js").CompletionTable}
 */
export function completionTable({ commands, options, topics }) {
  const help = commands[0]?.options.filter(({ name }) => name === "--help") ?? [];
  const ofCommands = commands.map(({ name, summary, arguments: args, options }) => {
    const own = options.filter(({ global }) => !global).map(optionOf);
    return [name, { summary, arguments: args.map(argumentOf), options: own }];
  });
  return {
    options: [...options, ...help].map(optionOf),
    commands: Object.fromEntries(ofCommands),
    topics: topics.map(({ name, summary }) => ({ name, summary })),
  };
}

/** @param {OptionEntry} option */
function optionOf({ name, short, description, value, choices }) {
  return { name, short, description, value, choices };
}

/** @param {import("../src/cli/help/help-document.js").ArgumentEntry} argument */
function argumentOf({ name, variadic, choices }) {
  return { name, variadic, choices };
}
