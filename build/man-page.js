/** @typedef {import("../src/cli/help/help-document.js").CommandEntry} CommandEntry */
/** @typedef {import("../src/cli/help/help-document.js").OptionEntry} OptionEntry */

/**
 * research(1), in mdoc.
 *
 * @param {import("../src/cli/help/help-document.js").HelpDocument} document
 * @param {Date} date
 */
export function manPage(document, date) {
  const { options, commands, exit_codes, environment, topics } = document;
  const groups = [...new Set(commands.map(({ group }) => group))].filter((group) => group !== null);
  const lines = [
    `.Dd ${date.toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" })}`,
    ".Dt RESEARCH 1",
    ".Os",
    ".Sh NAME",
    ".Nm research",
    ".Nd submit and manage deep research",
    ".Sh SYNOPSIS",
    ".Nm",
    ".Op Ar options",
    ".Ar command",
    ".Op Ar arguments",
    ".Sh DESCRIPTION",
    text(document.description),
    ...groups.flatMap((group) => [
      `.Ss ${text(group.replace(/:$/, ""))}`,
      ...commandsOf(group, commands).flatMap(commandLines),
    ]),
    ".Sh OPTIONS",
    "These options may stand before and after the command.",
    ...list(options.map(item)),
    ".Sh ENVIRONMENT",
    ...list(environment.map(({ name, description }) => [`Ev ${name}`, text(description)])),
    ".Sh EXIT STATUS",
    ...list(exit_codes.map(({ code, meaning }) => [`Li ${code}`, text(meaning)])),
    ".Sh EXAMPLES",
    ...examples(commands),
    ".Sh TOPICS",
    // Their texts would make up a fifth of the page, and `research help` has them.
    "Each is shown by",
    ".Nm",
    ".Ic help Ar topic .",
    ...list(topics.map(({ name, summary }) => [`Cm ${name}`, text(summary)])),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * The commands of a group, each with those below it.
 * @param {string} group
 * @param {CommandEntry[]} commands
 */
function commandsOf(group, commands) {
  const tops = commands.filter((command) => command.group === group).map(({ name }) => name);
  return commands.filter(({ name }) => tops.includes(name.split(" ")[0] ?? ""));
}

/** @param {CommandEntry} command */
function commandLines({ usage, description, arguments: args, options, output, exit_codes }) {
  const own = options.filter(({ global }) => !global);
  const groups = [...new Set(own.map(({ group }) => group))];
  const ofGroup = (/** @type {string | null} */ group) => own.filter((option) => option.group === group);
  const codes = exit_codes.map(({ code, meaning }) => `${code} ${meaning}`).join(", ");
  return [
    ".Bl -tag -width Ds",
    `.It Xo\n.Ic ${quoted(usage)}\n.Xc`,
    text(description),
    ".El",
    ...list(args.map(({ name, description }) => [`Ar ${quoted(name)}`, text(description)])),
    ...groups.flatMap((group) => [
      ...(groups.length > 1 ? [".Pp", text(group ?? "")] : []),
      ...list(ofGroup(group).map(item)),
    ]),
    ...(output ? [".Pp", text(`Output: ${output}.`)] : []),
    ...(codes ? [".Pp", text(`Exit codes: ${codes}.`)] : []),
  ];
}

/**
 * @param {OptionEntry} option
 * @returns {[string, string]}
 */
function item({ flags, description, choices, environment }) {
  const facts = [...(choices ? [`one of ${choices.join(", ")}`] : []), ...(environment ? [environment] : [])];
  return [
    `Ic ${quoted(flags)}`,
    text(facts.length > 0 ? `${description} (${facts.join("; ")})` : description),
  ];
}

/** @param {[string, string][]} items */
function list(items) {
  if (items.length === 0) return [];
  return [
    ".Bl -tag -width Ds",
    ...items.flatMap(([term, about]) => [`.It ${term}`, ...(about ? [about] : [])]),
    ".El",
  ];
}

/** @param {CommandEntry[]} commands */
function examples(commands) {
  const lines = commands.flatMap((command) => command.examples);
  return [".Bd -literal", ...lines.flatMap((line) => literal(`$ ${line}`)), ".Ed"];
}

/** The longest line of text, in characters: mandoc complains at 80. */
const LINE = 72;

/**
 * Text as mdoc takes it: short lines, and no sentence ends within one.
 * @param {string} words
 */
function text(words) {
  const lines = words.replace(/([.!?]) (?=[A-Z`])/g, "$1\n").split("\n");
  return lines.map((line) => escaped(folded(line))).join("\n");
}

/** @param {string} line */
function folded(line) {
  let length = line.indexOf(" ");
  return line.replace(/ (\S+)/g, (_, word) => {
    const fits = length + word.length < LINE;
    length = fits ? length + 1 + word.length : word.length;
    return `${fits ? " " : "\n"}${word}`;
  });
}

/** @param {string} page */
function literal(page) {
  return page.trimEnd().split("\n").map(escaped);
}

/**
 * One argument of a macro.
 * @param {string} words
 */
function quoted(words) {
  return `"${escaped(words).replaceAll('"', '""')}"`;
}

/** @param {string} words */
function escaped(words) {
  return words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^(?=[.'])/gm, "\\&");
}
