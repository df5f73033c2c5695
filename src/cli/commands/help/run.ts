import { UsageError } from "../../../app/errors.js";
import { wrapAtWords } from "../../../core/text/text-width.js";
import type { Context } from "../../command-context.js";
import { findNearest } from "../../help/find-nearest-word.js";
import { buildHelpDocument, type HelpDocument } from "../../help/help-document.js";
import { formatDefinitions, TOPICS, WIDTH } from "../../help/topics.js";
import { getTerminalColumns } from "../../terminal/style.js";
import type { DocumentedCommand } from "../define-command.js";

/** Prints a topic, the list of topics, or the whole help as JSON. Only --json gives JSON; RESEARCH_OUTPUT has no effect. */
export async function help(
  ctx: Context,
  program: DocumentedCommand,
  words: readonly string[],
): Promise<number> {
  const { reporter, flags, host } = ctx;
  const name = words.join(" ");
  const document = buildHelpDocument(program, host.version);
  const topic = TOPICS.find((candidate) => candidate.name === name);
  if (flags.json) await reporter.writeResultJson(name === "" ? document : filterHelp(document, name));
  else if (!topic && name !== "") throw createUnknownTopicError(name, document);
  else {
    const columns = host.stdout.isTTY ? getTerminalColumns(host.stdout) : WIDTH;
    await reporter.writeResult(wrapAtWords(topic?.text ?? formatTopics(), Math.min(columns, WIDTH)));
  }
  return 0;
}

/** Reduces a document to one command with its subcommands, or to one topic. Throws UsageError if neither exists. */
function filterHelp(document: HelpDocument, name: string): HelpDocument {
  const commands = document.commands.filter(
    (command) => command.name === name || command.name.startsWith(`${name} `),
  );
  if (commands.length > 0) return { ...document, commands };
  const topics = document.topics.filter((topic) => topic.name === name);
  if (topics.length > 0) return { ...document, commands: [], topics };
  throw createUnknownTopicError(name, document);
}

function createUnknownTopicError(name: string, { commands, topics }: HelpDocument): UsageError {
  const names = [...topics, ...commands].map((entry) => entry.name);
  return new UsageError(
    `unknown topic or command ${JSON.stringify(name)}`,
    `Did you mean \`research help ${findNearest(name, names)}\`? \`research help\` lists the topics, \`research --help\` the commands.`,
  );
}

function formatTopics(): string {
  return [
    "Usage: research help TOPIC\n       research help COMMAND\n\nTopics:\n",
    formatDefinitions(TOPICS.map(({ name, summary }) => [name, summary])),
    "\n`research --help` lists the commands. `research help --json` is all of the help for programs.\n",
  ].join("");
}
