import { SETTING_NAMES } from "../../machine/precedence.js";
import { readStored } from "../../machine/stored.js";
import { isFinal } from "../../protocol/conversation.js";
import type { Folders } from "../../store/folders.js";
import { formatDuration } from "../../text/duration.js";
import { shortLine } from "../../text/phrases.js";
import { safeLine } from "../../text/safe-text.js";
import { type KnownRequest, recentRequests, unknownOutcomes, type WantedRequests } from "./requests.js";
import type { CompletionTable } from "./table.js";
import type { CommandLine } from "./words.js";

/** A word that may stand at the cursor, and what it is in a few words. */
export interface Candidate {
  value: string;
  about: string;
}

/** What completion knows of this machine. */
export interface CompletionSource {
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
export function candidatesFor(
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
      return plain(SETTING_NAMES);
    case "topic":
      return [...table.topics.map(({ name, about }) => ({ value: name, about })), ...topCommands(table)];
    case "id":
    case "local-id":
      return line.options.length === 0 ? ids(kind, command, line, machine) : [];
    default:
      return [];
  }
}

function topCommands({ commands }: CompletionTable): Candidate[] {
  const top = Object.entries(commands).filter(([name]) => !name.includes(" "));
  return top.map(([value, { about }]) => ({ value, about }));
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
