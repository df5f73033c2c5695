import { type Folders, folders } from "../../ground/files/folders.js";
import { linesBackward } from "../../ground/files/lines-backward.js";
import { jsonIn } from "../../ground/json/exact-json.js";
import { isFinal, isRequestId } from "../../ground/protocol/conversation.js";
import { formatDuration } from "../../ground/text/duration.js";
import { shortLine } from "../../ground/text/phrases.js";
import { safeLine } from "../../ground/text/safe-text.js";
import { SETTINGS } from "../../machine/setting-table.js";
import { readStored } from "../../machine/settings.js";
import type { Host, Sink } from "../terminal/host.js";
import { type CommandLine, type CompletionTable, joinWords, readWords } from "./words.js";

/** The process, as far as completion sees it. */
interface CompletionHost extends Pick<Host, "env" | "platform" | "clock"> {
  readonly stdout: Pick<Sink, "write">;
}

/** What a shell may put on its command line as it stands: nothing in it is special to any shell. */
const HARMLESS = /^[\w@%+=:,./-]+$/;

/**
 * Answers a completion script: `SHELL COUNT WORD…`, where the last of COUNT words is the one at the cursor. A line for
 * each candidate, `value<TAB>what it is`; or `:files` or `:folders`. On an error nothing is written: the user is
 * in the middle of typing (contract §7).
 */
export async function complete(argv: readonly string[], host: CompletionHost, tableUrl: URL): Promise<void> {
  try {
    await host.stdout.write(answer(argv, host, tableUrl));
  } catch {
    // The same.
  }
}

function answer(
  [shell = "", count = "", ...typed]: readonly string[],
  host: CompletionHost,
  tableUrl: URL,
): string {
  // PowerShell 5 drops an empty argument.
  const words = Array.from({ length: Math.min(Number(count), 1_000) }, (_, index) => typed[index] ?? "");
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const table: CompletionTable = JSON.parse(readFileSync(tableUrl, "utf8"));
  const breaks = shell === "bash" ? (host.env.RESEARCH_COMPLETION_BREAKS ?? "") : "";
  const { whole, typedBefore } = joinWords(words, breaks);
  const line = readWords(whole, table);
  const machine = { folders: foldersOrNone(host), env: host.env, now: host.clock.now() };
  const found = candidatesFor(line, table, machine);
  if (typeof found === "string") return `:${found}\n`;
  return found
    .map(({ value, about }) => ({ value: `${line.lead}${value}`, about }))
    .filter(({ value }) => HARMLESS.test(value) && value.startsWith(`${line.lead}${line.current}`))
    .map(({ value, about }) => `${value.slice(typedBefore)}\t${about}\n`)
    .join("");
}

/** Without usable folders, what needs none is still completed. */
function foldersOrNone(host: CompletionHost): Folders {
  try {
    return folders(host);
  } catch {
    return { config: undefined, state: undefined };
  }
}

/** A word that may stand at the cursor, and what it is in a few words. */
interface Candidate {
  value: string;
  about: string;
}

/** What completion knows of this machine. */
interface CompletionSource {
  folders: Folders;
  env: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  now: number;
}

/** More ids than a person looks through. */
const MOST_IDS = 50;
/** Characters of a prompt that tell requests apart. */
const PROMPT_LENGTH = 60;

/** The words that may stand at the cursor; "files" or "folders" if the shell knows those. */
function candidatesFor(
  line: CommandLine,
  table: CompletionTable,
  machine: CompletionSource,
): Candidate[] | "files" | "folders" {
  const { command, value, options, commands, current } = line;
  const names = [
    ...options.map(({ name, about }) => ({ value: name, about })),
    ...commands.map((name) => ({
      value: name.split(" ").at(-1) ?? "",
      about: table.commands[name]?.about ?? "",
    })),
  ].filter((one) => one.value.startsWith(current));
  if (!value) return names;
  if (value.choices) return [...names, ...value.choices.map((choice) => ({ value: choice, about: "" }))];
  if (/^(?:path|file)\b/.test(value.value)) return "files";
  if (value.value === "id|file|-") {
    const requests = valuesOf("id", command, line, table, machine);
    return requests.length > 0 ? [...names, ...requests] : "files";
  }
  if (value.value === "dir") return "folders";
  return [...names, ...valuesOf(value.value, command, line, table, machine)];
}

function valuesOf(
  kind: string,
  command: string,
  line: CommandLine,
  table: CompletionTable,
  machine: CompletionSource,
): Candidate[] {
  const plain = (values: readonly string[]) => values.map((value) => ({ value, about: "" }));
  switch (kind) {
    case "profile":
      return plain(readStored(machine.folders.config, machine.env, line.chosen).profiles);
    case "key":
      return Object.entries(SETTINGS).map(([value, { description }]) => ({ value, about: description }));
    case "topic":
      return [
        ...table.topics.map(({ name, about }) => ({ value: name, about })),
        ...Object.entries(table.commands).flatMap(([value, { about }]) =>
          value.includes(" ") ? [] : { value, about },
        ),
      ];
    case "id":
    case "local-id":
      return line.options.length === 0 ? ids(kind, command, line, machine) : [];
    default:
      return [];
  }
}

/** The ids of the origin in force, or of all origins if none is configured (contract §7). */
function ids(
  kind: string,
  command: string,
  { current, given, chosen }: CommandLine,
  machine: CompletionSource,
): Candidate[] {
  const { origin, keepsHistory } = readStored(machine.folders.config, machine.env, chosen);
  const { state } = machine.folders;
  const isLast = "@last".startsWith(current);
  if (!keepsHistory || state === undefined || (!isLast && !/^[\w.-]*$/.test(current))) return [];
  const onlyRunning = command === "stop" || command === "watch";
  const accepts = (status: string) => !onlyRunning || !isFinal(status);
  const wanted: WantedRequests = { prefix: isLast ? "" : current, origin, limit: MOST_IDS, accepts };
  if (kind === "local-id")
    return orNone(() => unknownOutcomes(state, wanted)).map((one) => candidateOf(one, machine.now));
  const known = [
    ...(command === "show" || command === "rerun" ? orNone(() => unknownOutcomes(state, wanted)) : []),
    ...inOrder(
      command,
      orNone(() => recentRequests(state, wanted)),
    ),
  ].map((one) => candidateOf(one, machine.now));
  const last = isLast ? lastOf(state, wanted, machine.now) : [];
  return [...last, ...known].filter(({ value }) => !given.includes(value));
}

/** `@last`, unless it stands for a request that is not wanted. */
function lastOf(state: string, wanted: WantedRequests, now: number): Candidate[] {
  const [newest] = orNone(() => recentRequests(state, { ...wanted, limit: 1, accepts: () => true }));
  if (!newest) return [{ value: "@last", about: "the newest request" }];
  return wanted.accepts(newest.status) ? [{ value: "@last", about: candidateOf(newest, now).about }] : [];
}

/** `output` has COMPLETED ones first. */
function inOrder(command: string, requests: KnownRequest[]): KnownRequest[] {
  if (command !== "output") return requests;
  const isCompleted = ({ status }: KnownRequest) => status === "COMPLETED";
  return [...requests.filter(isCompleted), ...requests.filter((one) => !isCompleted(one))];
}

function candidateOf({ id, status, at, prompt }: KnownRequest, now: number): Candidate {
  const short = shortLine(safeLine(prompt), PROMPT_LENGTH);
  return { value: id, about: `${safeLine(status)}, ${formatDuration(now - at)} ago: ${short}` };
}

/** A history that is missing or broken has no ids to offer. */
function orNone(read: () => KnownRequest[]): KnownRequest[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** A request of the history, or a create whose outcome is unknown. */
interface KnownRequest {
  id: string;
  status: string;
  prompt: string;
  /** When it was created or sent, epoch milliseconds. */
  at: number;
}

interface WantedRequests {
  /** What the id begins with. */
  prefix: string;
  /** Undefined for every origin. */
  origin: string | undefined;
  /** How many are enough. */
  limit: number;
  accepts(status: string): boolean;
}

/** As much of the history is read as takes a few milliseconds, in bytes and in lines. */
const MAX_BYTES = 1 << 20;
const MAX_LINES = 1_000;
/** Unknown outcomes are few, each in a file of its own. */
const MAX_OPEN = 100;

type RecordFields = Readonly<Record<string, unknown>>;

/** The newest requests of the history in `folder` first, each in the state last recorded. */
function recentRequests(folder: string, { prefix, origin, limit, accepts }: WantedRequests): KnownRequest[] {
  const found: KnownRequest[] = [];
  const states = new Map<string, string>();
  const needle = prefix === "" ? undefined : `"${prefix}`;
  let lines = 0;
  for (const bytes of linesBackward(`${folder}/history.jsonl`, needle, MAX_BYTES)) {
    if (found.length >= limit || ++lines > MAX_LINES) break;
    const line: RecordFields = Object(jsonIn(bytes.toString("utf8")));
    const { kind, request_id: id } = line;
    if (!isRequestId(id) || (origin !== undefined && line.origin !== origin)) continue;
    if (kind === "status" && !states.has(id)) states.set(id, textIn(line, "status"));
    if (kind !== "created" || !id.startsWith(prefix)) continue;
    const status = states.get(id) ?? textIn(line, "status");
    if (accepts(status)) found.push({ id, status, ...aboutOf(line) });
  }
  return found.sort((a, b) => b.at - a.at);
}

/** The creates whose outcome is unknown, by their local ids, the newest first. */
function unknownOutcomes(folder: string, { prefix, origin, limit }: WantedRequests): KnownRequest[] {
  const fs = process.getBuiltinModule("node:fs");
  const names = fs.readdirSync(`${folder}/open`).filter((name) => name.endsWith(".json"));
  const found = names.slice(0, MAX_OPEN).flatMap((name) => {
    const [intent = "", outcome = ""] = linesOf(`${folder}/open/${name}`);
    const record: RecordFields = Object(jsonIn(intent));
    const id = record.local_id;
    if (!isRequestId(id) || !id.startsWith(prefix) || Object(jsonIn(outcome)).confirmed === true) return [];
    if (origin !== undefined && record.origin !== origin) return [];
    return [{ id, status: "UNKNOWN", ...aboutOf(record) }];
  });
  return found.sort((a, b) => b.at - a.at).slice(0, limit);
}

/** Nothing of what is not a regular file: a FIFO would be waited for. */
function linesOf(path: string): string[] {
  try {
    return Array.from(linesBackward(path), (line) => line.toString("utf8")).reverse();
  } catch {
    return [];
  }
}

function aboutOf(record: RecordFields): Pick<KnownRequest, "prompt" | "at"> {
  const at = Date.parse(textIn(record, "sent_at")) || Date.parse(textIn(record, "created_at")) || 0;
  return { prompt: textIn(record, "prompt"), at };
}

function textIn(record: RecordFields, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}
