import { isFinal, type Status } from "../../protocol/conversation.js";
import { formatDuration } from "../../text/duration.js";
import { progressWords } from "../../text/research-progress.js";
import { safeLine } from "../../text/safe-text.js";
import type { Outcome } from "../../workflows/progress.js";

export interface ShownProgress {
  /** The last state seen of each id, in the order given. */
  states: readonly (Status | null)[];
  elapsedMs: number;
  /** What the service says of the one id, if there is one. */
  progress?: unknown;
  /** How long runs usually take, in words, if that is known. */
  usual?: string | undefined;
}

/** The live line: for one id its state, for several how many are done and how many are in each other state. */
export function liveText({ states, elapsedMs, progress, usual }: ShownProgress): string {
  const elapsed = formatDuration(elapsedMs) + (usual === undefined ? "" : ` (${usual})`);
  if (states.length === 1)
    return [safeLine(states[0] ?? "waiting"), progressWords(progress), elapsed].filter(Boolean).join("  ");
  const done = states.filter((status) => status !== null && isFinal(status)).length;
  const counts = new Map<string, number>();
  for (const status of states)
    if (status === null || !isFinal(status))
      counts.set(status ?? "waiting", (counts.get(status ?? "waiting") ?? 0) + 1);
  const running = [...counts].map(([status, count]) => `${count} ${safeLine(status)}`).join(", ");
  return `${done} of ${states.length} done${running ? `, ${running}` : ""}  ${elapsed}`;
}

/** A state change, where nothing moves. */
export function changeLine(requestId: string, status: Status, elapsedMs: number): string {
  return `${requestId} is ${safeLine(status)} (${formatDuration(elapsedMs)})`;
}

/** A line for a watch in which nothing changes. */
export function unchangedLine(progress: ShownProgress): string {
  return `still watching: ${liveText(progress)}`;
}

export interface WatchLine {
  requestId: string;
  status: Status | null;
  previous: Status | null;
  /** Epoch milliseconds. */
  at: number;
  /** Milliseconds since the watch began. */
  elapsedMs: number;
  final: boolean;
  /** What the service says of it, if it does. */
  progress?: unknown;
}

/** One line of a watch for a program. */
export function watchJson({ requestId, status, previous, at, elapsedMs, final, progress }: WatchLine) {
  return {
    request_id: requestId,
    status,
    previous_status: previous,
    at: new Date(at).toISOString(),
    elapsed_ms: Math.round(elapsedMs),
    final,
    ...(progress !== undefined && !final && { progress }),
  };
}

/** What can be done about a request that goes on by itself no more, or that may not. */
export function stuckText(event: { requestId: string; word: string; waitsForSomebody: boolean }): string {
  const { requestId, waitsForSomebody } = event;
  const word = safeLine(event.word);
  const what = waitsForSomebody
    ? `${requestId} waits for somebody (${word}): answer it at the provider`
    : `${requestId} has been ${word} for ten minutes, which is not a known state: look at the service's own page`;
  return `${what}, or stop it with: research stop ${requestId}. Polling goes on`;
}

/** What a notification says of requests whose wait is over: our words and an id, nothing of the service's. */
export function endText(outcomes: readonly Pick<Outcome, "requestId" | "status">[]): string {
  const isOver = ({ status }: Pick<Outcome, "status">) => status !== null && isFinal(status);
  const [first] = outcomes;
  if (outcomes.length !== 1 || !first)
    return `${outcomes.filter(isOver).length} of ${outcomes.length} requests have ended`;
  return `${first.requestId} ${isOver(first) ? `is ${first.status}` : "has not ended"}`;
}
