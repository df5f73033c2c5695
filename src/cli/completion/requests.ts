import { isObject } from "../../json/is-object.js";
import { isRequestId } from "../../protocol/conversation.js";
import { linesBackward } from "../../store/history/read-backward.js";

/** A request of the history, or a create whose outcome is unknown. */
export interface KnownRequest {
  id: string;
  status: string;
  prompt: string;
  /** When it was created or sent, epoch milliseconds. */
  at: number;
}

export interface WantedRequests {
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

type Fields = Readonly<Record<string, unknown>>;

/** The newest requests of the history in `folder` first, each in the state last recorded. */
export function recentRequests(
  folder: string,
  { prefix, origin, limit, accepts }: WantedRequests,
): KnownRequest[] {
  const found: KnownRequest[] = [];
  const states = new Map<string, string>();
  const needle = prefix === "" ? undefined : `"${prefix}`;
  let lines = 0;
  for (const bytes of linesBackward(`${folder}/history.jsonl`, needle, MAX_BYTES)) {
    if (found.length >= limit || ++lines > MAX_LINES) break;
    const line = parse(bytes.toString("utf8"));
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
export function unknownOutcomes(folder: string, { prefix, origin, limit }: WantedRequests): KnownRequest[] {
  const fs = process.getBuiltinModule("node:fs");
  const names = fs.readdirSync(`${folder}/open`).filter((name) => name.endsWith(".json"));
  const found = names.slice(0, MAX_OPEN).flatMap((name) => {
    const [intent = "", outcome = ""] = linesOf(`${folder}/open/${name}`);
    const record = parse(intent);
    const id = record.local_id;
    if (!isRequestId(id) || !id.startsWith(prefix) || parse(outcome).confirmed === true) return [];
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

function aboutOf(record: Fields): Pick<KnownRequest, "prompt" | "at"> {
  const at = Date.parse(textIn(record, "sent_at")) || Date.parse(textIn(record, "created_at")) || 0;
  return { prompt: textIn(record, "prompt"), at };
}

function textIn(record: Fields, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}

function parse(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
