import { SETTINGS, type Setting } from "../../app/setting-table.js";
import { PROVIDERS } from "../../client/dialects/providers.js";
import { TIERS } from "../../core/protocol/rate-limits.js";
import { EXIT_CODE_MEANINGS, VARIABLES } from "./exit-codes-and-variables.js";
import topics from "./topics.txt?raw";

/** A help page on a topic instead of a command: `research help NAME`. */
export interface Topic {
  name: string;
  summary: string;
  /** Plain text, one line per paragraph, item or row. Ends with a line break. */
  text: string;
}

/** The width of help in columns, even in a pipe. */
export const WIDTH = 80;

const count = (value: number) => (Number.isFinite(value) ? String(value) : "custom").padStart(6);

/** The tables that replace `{{name}}` in topics.txt. */
const TABLES: Readonly<Record<string, string>> = {
  "exit codes": formatDefinitions(Object.entries(EXIT_CODE_MEANINGS)),
  variables: formatDefinitions(
    VARIABLES.map(({ name, description, flag }) => [name, flag ? `${description} (${flag})` : description]),
  ),
  settings: formatDefinitions(
    Object.entries<Setting>(SETTINGS).map(
      ([name, { description, flags = [], variables = [], ...setting }]) => {
        const defaults = setting.default === undefined ? [] : [`default: ${setting.default}`];
        const facts = [...flags, ...variables, ...defaults].join(", ");
        return [name, facts ? `${description} (${facts})` : description];
      },
    ),
  ),
  tiers: joinTableRows(
    Object.entries(TIERS).map(
      ([name, { create, stop }]) => `${name.padEnd(12)}${count(create)}  ${count(stop)}`,
    ),
  ),
  providers: joinTableRows(
    PROVIDERS.map(
      ({ name, modelWord, defaultModel, keyVariable }) =>
        `${name.padEnd(11)}${keyVariable.padEnd(19)}${modelWord.padEnd(19)}${defaultModel}`,
    ),
  ),
};

/** Every topic of `research help`, in the order of topics.txt, where each begins with a line `# name: summary`. */
export const TOPICS: readonly Topic[] = topics
  .split(/^# /m)
  .slice(1)
  .map((page) => {
    const [, name = "", summary = "", text = ""] =
      /^([\w-]+): ([^\n]*)\n\n(.*\n)$/s.exec(`${page.trimEnd()}\n`) ?? [];
    return { name, summary, text: text.replace(/\{\{(.*)\}\}\n/g, (_, table) => TABLES[table] ?? "") };
  });

function joinTableRows(rows: readonly string[]): string {
  return rows.map((row) => `  ${row}\n`).join("");
}

/** Formats terms and their explanations in two columns. */
export function formatDefinitions(rows: readonly (readonly [term: string, explanation: string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length));
  return joinTableRows(rows.map(([term, explanation]) => `${term.padEnd(width)}  ${explanation}`));
}
