import { type AccountStatement, collectAccountStatements } from "../../../app/account-statements.js";
import { listNamedPages, normalizePageAddress } from "../../../app/bibliography.js";
import { formatResult, formatWithSources } from "../../../app/format-result.js";
import { convertToReport } from "../../../app/parse-report.js";
import { sumTokens } from "../../../client/store/history/history-records.js";
import { chooseStateWord, type RowState } from "../../../client/workflows/batch/plan-rows.js";
import type { Result } from "../../../client/workflows/fetch-results.js";
import { tryParseExact } from "../../../core/json/exact-json.js";
import { escapeMarkdown, formatAutolink } from "../../../core/markdown/escape-markdown.js";
import { formatDollars } from "../../../core/text/describe-progress.js";
import { formatCount } from "../../../core/text/format-text.js";
import { formatDuration } from "../../../core/text/time-format.js";
import { formatVerdictCounts } from "../../requests/format-check.js";
import { measureRowDuration } from "../batch/format-batch.js";

/** The data about a result that the journal keeps. */
export interface ResultNote {
  words: number;
  /** The length of the result in its file, in UTF-16 units. A list of sources may follow it there. */
  length: number;
  sources: { url: string; title: string | null }[];
  usage?: unknown;
  cost_dollars?: number;
}

export function buildResultNote(result: Result): ResultNote {
  const text = formatResult(result);
  const { usage, cost_dollars: cost } = result.data;
  return {
    words: text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0,
    length: formatWithSources(result) === text ? text.length : text.trimEnd().length,
    sources: listNamedPages(result),
    ...(usage !== undefined && { usage }),
    ...(typeof cost === "number" && { cost_dollars: cost }),
  };
}

export function listSharedSources(states: readonly RowState[]): { url: string; profiles: string[] }[] {
  const shared = new Map<string, { url: string; profiles: Set<string> }>();
  for (const state of states)
    for (const { url } of readResultNote(state)?.sources ?? []) {
      const name = normalizePageAddress(url);
      if (name === undefined) continue;
      const source = shared.get(name) ?? { url, profiles: new Set<string>() };
      shared.set(name, { ...source, profiles: source.profiles.add(getRowProfile(state)) });
    }
  return [...shared.values()]
    .filter(({ profiles }) => profiles.size > 1)
    .sort((a, b) => b.profiles.size - a.profiles.size)
    .map(({ url, profiles }) => ({ url, profiles: [...profiles] }));
}

function getRowProfile({ row }: RowState): string {
  return row.profile ?? "";
}

function readResultNote({ note }: RowState): ResultNote | undefined {
  return note as ResultNote | undefined;
}

function escapeTableCell(text: string): string {
  return escapeMarkdown(text).replaceAll("|", "\\|");
}

/** Finds the statements of the reports in a folder. `read` returns the text of a file in that folder. */
export function findFolderStatements(
  states: readonly RowState[],
  read: (file: string) => string,
): Promise<AccountStatement[]> {
  const reports = states.flatMap((state) => {
    const { file } = state;
    if (file === undefined) return [];
    const value = file.endsWith(".json") ? tryParseExact(read(file)) : read(file);
    return [{ profile: getRowProfile(state), report: convertToReport({ data: {}, value }) }];
  });
  return collectAccountStatements(reports);
}

/** Formats sections of the index: statements that differ, those of several accounts, and the number of those of only one. */
function formatStatements(statements: readonly AccountStatement[]): string[] {
  const differing = statements.filter(({ otherwise }) => otherwise.length > 0);
  const agreed = statements.filter(({ said_by, otherwise }) => otherwise.length === 0 && said_by.length > 1);
  const alone = new Map<string, number>();
  for (const { said_by: by, otherwise } of statements)
    if (by.length + otherwise.length === 1) alone.set(by[0] ?? "", (alone.get(by[0] ?? "") ?? 0) + 1);
  const formatItem = (claim: string, by: readonly string[]) =>
    `- ${by.map(escapeMarkdown).join(", ")}: ${escapeMarkdown(claim)}`;
  const counts = [...alone].map(([name, count]) => `${escapeMarkdown(name)} ${count}`);
  const sections: [string, string[]][] = [
    [
      "Where they differ",
      differing.flatMap(({ claim, said_by: by, otherwise }) => [
        formatItem(claim, by),
        ...otherwise.map(({ profile, passage }) => `  ${formatItem(passage, [profile])}`),
      ]),
    ],
    ["What several say", agreed.map(({ claim, said_by: by }) => formatItem(claim, by))],
  ];
  return [
    ...sections.flatMap(([head, items]) => (items.length > 0 ? [`## ${head}`, items.join("\n")] : [])),
    ...(counts.length > 0 ? [`Statements of only one account: ${counts.join(", ")}.`] : []),
  ];
}

export function formatCompareIndex(
  prompt: string,
  states: readonly RowState[],
  statements: readonly AccountStatement[],
): string {
  const isChecked = states.some(({ check }) => check);
  const heads = ["Account", "State", "Time", "Cost", "Words", "Sources", ...(isChecked ? ["Checked"] : [])];
  const rows = states.map((state) => {
    const note = readResultNote(state);
    const took = measureRowDuration(state);
    const cells = [
      getRowProfile(state),
      chooseStateWord(state),
      took === undefined ? "" : formatDuration(took),
      formatNoteCost(note),
      note ? String(note.words) : "",
      note ? String(note.sources.length) : "",
      ...(isChecked ? [state.check ? formatVerdictCounts(state.check.counts) : ""] : []),
    ];
    return `| ${cells.map(escapeTableCell).join(" | ")} |`;
  });
  const shared = listSharedSources(states).map(
    ({ url, profiles }) => `- ${formatAutolink(url)}: ${escapeTableCell(profiles.join(", "))}`,
  );
  const hasRedirects = states.some((state) =>
    readResultNote(state)?.sources.some(
      ({ url }) => URL.canParse(url) && normalizePageAddress(url) === undefined,
    ),
  );
  const reports = states.map((state) => {
    const { file, error } = state;
    const name = escapeTableCell(getRowProfile(state));
    if (file) return `- [${name}](${encodeURIComponent(file)})`;
    return `- ${name}: ${escapeTableCell(error?.message ?? chooseStateWord(state))}`;
  });
  return `${[
    `# ${escapeTableCell(prompt).slice(0, 300)}`,
    [`| ${heads.join(" | ")} |`, `|${heads.map(() => "---|").join("")}`, ...rows].join("\n"),
    ...formatStatements(statements),
    "## Shared sources",
    shared.length > 0 ? shared.join("\n") : "No source is cited by more than one account.",
    ...(hasRedirects ? ["Gemini's redirects are not compared: every answer has different ones."] : []),
    "## Reports",
    reports.join("\n"),
  ].join("\n\n")}\n`;
}

function formatNoteCost(note: ResultNote | undefined): string {
  if (note?.cost_dollars !== undefined) return formatDollars(note.cost_dollars);
  const tokens = sumTokens(note?.usage);
  return tokens === undefined ? "" : formatCount(tokens, "token");
}

export function buildCompareJson(
  prompt: string,
  dir: string,
  states: readonly RowState[],
  statements: readonly AccountStatement[],
  read: (file: string) => string,
) {
  const accounts = states.map((state) => {
    const { requestId = null, localId = null, file, error } = state;
    const note = readResultNote(state);
    const text = file && read(file);
    const output =
      text === undefined ? null : file?.endsWith(".json") ? tryParseExact(text) : text.slice(0, note?.length);
    return {
      profile: getRowProfile(state),
      request_id: requestId,
      local_id: localId,
      status: chooseStateWord(state),
      cost_dollars: note?.cost_dollars ?? null,
      usage: note?.usage ?? null,
      file: file ?? null,
      output,
      sources: note?.sources ?? [],
      error: error ?? null,
    };
  });
  return { prompt, dir, accounts, shared_sources: listSharedSources(states), statements };
}
