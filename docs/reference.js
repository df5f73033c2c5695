// Writes docs/reference.md from the help of the built program: `npm run docs`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** @typedef {import("../src/cli/help/help-document.js").ArgumentEntry} ArgumentEntry */
/** @typedef {import("../src/cli/help/help-document.js").OptionEntry} OptionEntry */

const root = join(import.meta.dirname, "..");

/** The reference as Markdown, of the program as it was built. */
export function referencePage() {
  const help = execFileSync(process.execPath, [join(root, "bin/research.js"), "help", "--json"]);
  /** @type {import("../src/cli/help/help-document.js").HelpDocument} */
  const { commands, options, exit_codes, environment, topics } = JSON.parse(help.toString("utf8"));
  const ownHelp = (/** @type {OptionEntry[]} */ list) =>
    list.filter(({ global, name }) => !global && name !== "--help");
  return [
    "# Reference",
    "`npm run docs` generates this page from the texts of `--help`: the commands, [options of every command](#options-of-every-command),",
    "[environment](#environment), [exit codes](#exit-codes), and the topics of `research help`:",
    `${topics.map(({ name }) => `[${name}](#help-${name})`).join(", ")}.`,
    "",
    ...commands.flatMap(({ name, usage, description, arguments: args, options: own, ...more }) => [
      `## research ${name}`,
      "",
      `\`${usage}\``,
      "",
      description,
      "",
      ...optionTable(args, ownHelp(own)),
      ...(more.output ? [`Output: ${more.output}.`, ""] : []),
      ...table(
        ["exit code", "meaning"],
        // All exit codes are further down on the same page.
        more.exit_codes.map((one) => [
          String(one.code),
          one.meaning.replace(" (research help exit-codes)", ""),
        ]),
      ),
      ...(more.examples.length > 0
        ? ["```console", ...more.examples.map((line) => `$ ${line}`), "```", ""]
        : []),
    ]),
    "## Options of every command",
    "",
    ...table(["option", "meaning"], options.map(optionRow)),
    "## Environment",
    "",
    ...table(
      ["variable", "meaning"],
      environment.map((one) => [code(one.name), one.description]),
    ),
    "## Exit codes",
    "",
    ...table(
      ["exit code", "meaning"],
      exit_codes.map((one) => [String(one.code), one.meaning]),
    ),
    ...topics.flatMap(({ name, text }) => [`## help ${name}`, "", "```text", text.trimEnd(), "```", ""]),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

/**
 * The arguments and options of a command, with a row for the heading of each group if there are several.
 * @param {ArgumentEntry[]} args
 * @param {OptionEntry[]} options
 */
function optionTable(args, options) {
  const groups = [...new Set(options.map(({ group }) => group))];
  return table(
    ["argument or option", "meaning"],
    [
      ...args.map((one) => [code(one.name), one.description]),
      ...groups.flatMap((group) => [
        ...(groups.length > 1 ? [[`**${group}**`, ""]] : []),
        ...options.filter((option) => option.group === group).map(optionRow),
      ]),
    ],
  );
}

/**
 * @param {OptionEntry} option
 * @returns {string[]}
 */
function optionRow({ flags, description, choices, environment }) {
  const facts = [choices?.join(", "), environment && code(environment)].filter(Boolean);
  return [code(flags), facts.length > 0 ? `${description} (${facts.join("; ")})` : description];
}

/**
 * @param {string[]} titles
 * @param {string[][]} rows
 */
function table(titles, rows) {
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return rows.length === 0 ? [] : [line(titles), line(titles.map(() => "---")), ...rows.map(line), ""];
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(root, "docs/reference.md"), referencePage());
