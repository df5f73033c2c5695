import { EXIT_CODES } from "../../app/errors.js";
import type { Failure } from "../../app/failure.js";
import type { StatusData } from "../../client/calls/client.js";
import { ResearchError } from "../../client/calls/errors.js";
import type { StateAnswer } from "../../client/workflows/requests.js";
import type { LocalError } from "../../core/files/local-error.js";
import { setMember } from "../../core/json/exact-json.js";
import { type ContextFile, isFinal, type Status } from "../../core/protocol/conversation.js";
import { formatCount } from "../../core/text/phrases.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { measureColumns } from "../../core/text/width.js";
import { fitColumns } from "../terminal/columns.js";
import { ClosedPipe, type Reporter } from "../terminal/reporter.js";
import type { Style } from "../terminal/style.js";

/** Prints a line for each answer when it arrives, or with --json all at the end, even after an error. Returns the worst exit code. */
export async function showResponses(
  reporter: Reporter,
  count: number,
  answers: Iterable<StateAnswer> | AsyncIterable<StateAnswer>,
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
      if (!(error instanceof ClosedPipe)) throw error;
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
      const data = setMember(answer.data, "request_id", requestId);
      const { status } = data;
      await warnOfUnrecordedState(reporter, answer.notObserved);
      statuses.push(data);
      codes.push(exitStatus ? getExitCode(status) : 0);
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

const ERRORS_FIRST = [3, 10, 8, 14, 15];

/** Returns the exit code for several ids (contract §1.5): the first error, or else the first of 3, 10, 8, 14 and 15 that occurred. */
export function pickWorstExit(codes: readonly number[]): number {
  const error = codes.find((code) => code !== 0 && !ERRORS_FIRST.includes(code));
  return error ?? ERRORS_FIRST.find((code) => codes.includes(code)) ?? 0;
}

/** Returns the exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function getExitCode(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/** Adds the request's id to a failure, so that a reader of several errors knows which request each is about. */
export function addRequestId(failure: Failure, requestId: string, { json }: Pick<Reporter, "json">): Failure {
  const { message } = failure;
  const isNamed = json || message.includes(requestId);
  return { ...failure, request_id: requestId, message: isNamed ? message : `${requestId}: ${message}` };
}

/** Prints the error of one request and returns its exit code. Rethrows an error that did not come from the service. */
export async function showFailure(reporter: Reporter, error: unknown, requestId: string): Promise<number> {
  if (!(error instanceof ResearchError)) throw error;
  const { describeFailure } = await import("../../app/failure.js");
  const failure = addRequestId(describeFailure(error), requestId, reporter);
  await reporter.writeError(failure);
  return failure.exit_code;
}

/** Prints a notice if a state could not be recorded. The state can be requested again, so this is no error. */
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
