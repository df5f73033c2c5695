import { readStoredSettings } from "../../app/resolve-settings.js";
import { SETTINGS, type Setting } from "../../app/setting-table.js";
import { History } from "../../client/store/history/history.js";
import { type HistoryEntry, UNKNOWN } from "../../client/store/history/history-records.js";
import { chooseUserFolders, type UserFolders } from "../../core/files/user-folders.js";
import { isFinal } from "../../core/protocol/conversation.js";
import { shortenLine } from "../../core/text/format-text.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { formatDuration } from "../../core/text/time-format.js";
import type { Host, Sink } from "../terminal/host.js";
import {
  type CommandLine,
  type CompletionTable,
  joinBrokenWords,
  parseCommandLine,
} from "./parse-command-line.js";

interface CompletionHost extends Pick<Host, "env" | "platform" | "clock"> {
  readonly stdout: Pick<Sink, "write">;
}

/** Matches text that needs no quotes in any shell. */
const HARMLESS = /^[\w@%+=:,./-]+$/;

/** Answers a completion script (`SHELL WORD…`) with a line for each candidate, or `:files` or `:folders`. Prints no errors (contract §7). */
export async function printCompletions(
  argv: readonly string[],
  host: CompletionHost,
  tableUrl: URL,
): Promise<void> {
  try {
    await host.stdout.write(formatCompletions(argv, host, tableUrl));
  } catch {
    // Print nothing, because an error would disturb the command line that the user types.
  }
}

function formatCompletions(
  [shell = "", ...words]: readonly string[],
  host: CompletionHost,
  tableUrl: URL,
): string {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const table: CompletionTable = JSON.parse(readFileSync(tableUrl, "utf8"));
  const breaks = shell === "bash" ? (host.env.RESEARCH_COMPLETION_BREAKS ?? "") : "";
  const { whole, typedBefore } = joinBrokenWords(words, breaks);
  const line = parseCommandLine(whole, table);
  const candidates = listCandidates(line, table, host);
  if (typeof candidates === "string") return `:${candidates}\n`;
  return candidates
    .map(({ value, about }) => ({ value: `${line.lead}${value}`, about }))
    .filter(({ value }) => HARMLESS.test(value) && value.startsWith(`${line.lead}${line.current}`))
    .map(({ value, about }) => `${value.slice(typedBefore)}\t${about}\n`)
    .join("");
}

/** Finds the folders; unknown ones if they cannot be used, so that completion still works where no folder is needed. */
function findFoldersOrNone(host: CompletionHost): UserFolders {
  try {
    return chooseUserFolders(host);
  } catch {
    return { config: undefined, state: undefined };
  }
}

interface Candidate {
  value: string;
  about: string;
}

const MOST_IDS = 50;
/** The least length of a prefix for which older requests are searched as well. */
const LEAST_PREFIX = 4;
const PROMPT_LENGTH = 60;

/** Returns the candidates at the cursor; "files" or "folders" if the shell completes those itself. */
function listCandidates(
  line: CommandLine,
  table: CompletionTable,
  host: CompletionHost,
): Candidate[] | "files" | "folders" {
  const { value, options, commands, current } = line;
  const names = [
    ...options.map(({ name, description }) => ({ value: name, about: description })),
    ...commands.map((name) => ({
      value: name.split(" ").at(-1) ?? "",
      about: table.commands[name]?.summary ?? "",
    })),
  ].filter((candidate) => candidate.value.startsWith(current));
  if (!value) return names;
  if (value.choices) return [...names, ...buildCandidates(value.choices)];
  if (/^(?:path|file)\b/.test(value.kind)) return "files";
  if (value.kind === "dir") return "folders";
  const values = listValues(value.kind, line, table, host);
  return /^(?:id\|file\|-|old|new)$/.test(value.kind) && values.length === 0
    ? "files"
    : [...names, ...values];
}

function buildCandidates(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, about: "" }));
}

function listValues(
  kind: string,
  line: CommandLine,
  table: CompletionTable,
  host: CompletionHost,
): Candidate[] {
  switch (kind) {
    case "profile":
      return buildCandidates(
        readStoredSettings(findFoldersOrNone(host).config, host.env, line.chosen).profiles,
      );
    case "setting":
      return Object.entries(SETTINGS).map(([value, { description }]) => ({ value, about: description }));
    case "value":
      return buildCandidates(
        Object.entries<Setting>(SETTINGS).find(([key]) => key === line.given[0])?.[1].choices ?? [],
      );
    case "topic":
      return [
        ...table.topics.map(({ name, summary }) => ({ value: name, about: summary })),
        ...Object.entries(table.commands).flatMap(([value, { summary }]) =>
          value.includes(" ") ? [] : { value, about: summary },
        ),
      ];
    case "id":
    case "id|file|-":
    case "old":
    case "new":
    case "local-id":
      return line.options.length === 0 ? listRequestIds(kind, line, host) : [];
    default:
      return [];
  }
}

/** Lists the ids of requests at the origin in use, or at all origins if none is configured (contract §7). */
function listRequestIds(
  kind: string,
  { command, current, given, chosen }: CommandLine,
  host: CompletionHost,
): Candidate[] {
  const now = host.clock.now();
  const { config, state } = findFoldersOrNone(host);
  const { origin, keepsHistory } = readStoredSettings(config, host.env, chosen);
  const isLast = "@last".startsWith(current);
  if (!keepsHistory || state === undefined || (!isLast && !/^[\w.-]*$/.test(current))) return [];
  const entries = listRecordedRequests(new History(state, () => now), isLast ? "" : current).filter(
    (entry) => origin === undefined || entry.origin === origin,
  );
  const isUnknown = ({ status }: HistoryEntry) => status === UNKNOWN;
  const isAccepted = (entry: HistoryEntry): boolean => {
    if (kind === "local-id") return isUnknown(entry);
    if (isUnknown(entry)) return command === "show" || command === "rerun";
    return (command !== "stop" && command !== "watch") || !isFinal(entry.status);
  };
  const newest = isLast && kind !== "local-id" ? entries.find((entry) => !isUnknown(entry)) : undefined;
  const last =
    newest === undefined
      ? { value: "@last", about: "the newest request" }
      : buildRequestCandidate(newest, now);
  const isWanted = isLast && kind !== "local-id" && (newest === undefined || isAccepted(newest));
  const isLater = ({ status }: HistoryEntry) => command === "output" && status !== "COMPLETED";
  const wanted = entries.filter(isAccepted).sort((a, b) => Number(isLater(a)) - Number(isLater(b)));
  return [
    ...(isWanted ? [{ ...last, value: "@last" }] : []),
    ...wanted.slice(0, MOST_IDS).map((entry) => buildRequestCandidate(entry, now)),
  ].filter(({ value }) => !given.includes(value));
}

const MOST_ENTRIES = 200;

/** Lists requests whose ids begin with `current`: among the newest, and with a longer prefix among all. None if the history cannot be read. */
function listRecordedRequests(history: History, current: string): HistoryEntry[] {
  try {
    const newest = history.list({ limit: MOST_ENTRIES });
    const named = current.length < LEAST_PREFIX ? [] : history.find(current);
    const all = new Map([...newest, ...named].map((entry) => [entry.local_id, entry]));
    return [...all.values()].filter(({ request_id, local_id }) =>
      (request_id ?? local_id).startsWith(current),
    );
  } catch {
    return [];
  }
}

function buildRequestCandidate(entry: HistoryEntry, now: number): Candidate {
  const { request_id, local_id, status, prompt } = entry;
  const short = shortenLine(escapeLine(prompt), PROMPT_LENGTH);
  const age = formatDuration(now - Date.parse(entry.sent_at));
  return { value: request_id ?? local_id, about: `${escapeLine(status)}, ${age} ago: ${short}` };
}
