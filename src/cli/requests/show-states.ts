import type { StatusData } from "../../client/calls/research-client.js";
import type { StateResult } from "../../client/workflows/find-and-query-requests.js";
import type { LocalError } from "../../core/files/local-error.js";
import { addFirstMember } from "../../core/json/exact-json.js";
import type { ContextFile } from "../../core/protocol/conversation.js";
import { formatCount } from "../../core/text/format-text.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { measureColumns } from "../../core/text/text-width.js";
import { fitColumns } from "../terminal/align-columns.js";
import { ClosedPipeError, type Reporter } from "../terminal/reporter.js";
import type { Style } from "../terminal/style.js";
import { getStatusExitCode, pickWorstExit, showFailure } from "./exit-codes.js";

/** Prints a line for each answer when it arrives, or with --json all at the end, even after an error. Returns the worst exit code. */
export async function showStates(
  reporter: Reporter,
  count: number,
  answers: Iterable<StateResult> | AsyncIterable<StateResult>,
  { quiet, exitStatus }: { quiet?: boolean; exitStatus?: boolean } = {},
): Promise<number> {
  const style = await reporter.loadStyle();
  const statuses: StatusData[] = [];
  const codes: number[] = [];
  let isClosed = false;
  const write = async (writing: () => Promise<void>) => {
    try {
      if (!isClosed) await writing();
    } catch (error) {
      if (!(error instanceof ClosedPipeError)) throw error;
      isClosed = true;
    }
  };
  try {
    for await (const answer of answers) {
      const { requestId } = answer.target;
      if (answer.kind === "failed") {
        codes.push(await showFailure(reporter, answer.error, requestId));
        continue;
      }
      const data = addFirstMember(answer.data, "request_id", requestId);
      const { status } = data;
      await warnOfUnrecordedState(reporter, answer.notObserved);
      statuses.push(data);
      codes.push(exitStatus ? getStatusExitCode(status) : 0);
      const line = quiet
        ? formatStatusWord(status, style)
        : formatStatusLine(requestId, status, style, reporter.columns);
      if (!reporter.json) await write(() => reporter.writeResult(`${line}\n`));
    }
  } finally {
    const all = count === 1 ? statuses[0] : statuses;
    if (reporter.json && all) await write(() => reporter.writeResultJson(all));
  }
  return pickWorstExit(codes);
}

/** Prints a notice if a state could not be recorded. The state can be requested again, so this is not an error. */
export async function warnOfUnrecordedState(
  reporter: Reporter,
  error: LocalError | undefined,
): Promise<void> {
  if (error) await reporter.writeNotice("HISTORY_NOT_UPDATED", error.message);
}

const STATUS_STYLES: Readonly<Record<string, "good" | "bad" | "dim">> = {
  ...{ COMPLETED: "good", FAILED: "bad", UNKNOWN: "bad", STOPPED: "dim" },
};

export function formatStatusWord(status: string, style: Style): string {
  return style[STATUS_STYLES[status] ?? "busy"](escapeLine(status));
}

/** Names the files of a context with their lengths. If their texts are there, adds an estimate of tokens (four bytes of UTF-8 each). */
export function describeContext(context: readonly ContextFile[]): string {
  const names = context.map(({ name, chars }) => `${name} (${formatCount(chars, "character")})`).join(", ");
  const tokens = Math.ceil(Buffer.byteLength(context.map(({ text = "" }) => text).join("")) / 4);
  return tokens > 0 ? `${names}, about ${formatCount(tokens, "token")}` : names;
}

/** Formats a request and its state as `id<TAB>STATUS`. On a terminal, shortens an id that does not fit. */
export function formatStatusLine(requestId: string, status: string, style: Style, columns: number): string {
  const room = columns - measureColumns(escapeLine(status)) - 2;
  const word = formatStatusWord(status, style);
  return requestId.length > room - TAB ? `${fitColumns(requestId, room)}  ${word}` : `${requestId}\t${word}`;
}

/** Maximum columns of a tab; two blanks may take its place. */
const TAB = 6;
