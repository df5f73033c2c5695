import type { Clock } from "../../clock.js";
import { follow } from "../../workflows/follow.js";
import { Progress } from "../../workflows/progress.js";
import { number, optional, texts } from "../fields.js";
import { COUNT, FLAG, objectOf, STATES, TEXT } from "../output-schema.js";
import { ASKS, type ToolCall, tool } from "../tool.js";
import { type RequestState, statesContent, targetsOf } from "./states.js";

/** Below the 60 s after which many clients give a call up. */
const DEFAULT_SECONDS = 45;
const MOST_SECONDS = 240;
/** How often progress is reported while nothing changes, in milliseconds. */
const REPORT_MS = 5_000;

export const wait = tool({
  name: "research_wait",
  title: "Wait for requests to end",
  description:
    "Wait until all requests have ended or the time is over, and give the state of each. If `done` is false, call it again: the research goes on meanwhile, and to cancel the call does not stop it.",
  fields: {
    ids: texts("Ids of requests; @last is the newest one."),
    seconds: optional(
      number(`How long to wait. Default: ${DEFAULT_SECONDS}.`, {
        least: 0,
        most: MOST_SECONDS,
        isWhole: false,
      }),
    ),
  },
  outputSchema: objectOf({ ...STATES, done: FLAG, waited_seconds: COUNT, next: TEXT }),
  annotations: ASKS,
  async call(session, { ids, seconds = DEFAULT_SECONDS }, call) {
    const ports = session.ports();
    const { clock } = ports;
    const start = clock.monotonic();
    const { targets, failed } = targetsOf(ports, ids);
    const progress = new Progress(targets.map(({ requestId }) => requestId));
    const elapsed = () => (clock.monotonic() - start) / 1_000;
    const reports = new AbortController();
    const reporting = reportProgress(clock, call, { progress, elapsed, seconds }, reports.signal);
    try {
      // At least one poll is made: a timeout of 0 would be none at all.
      const options = { timeout: Math.max(seconds * 1_000, 1), signal: call.signal };
      for await (const event of follow(ports, targets, options)) progress.apply(event);
    } finally {
      reports.abort();
      await reporting;
    }
    const states = progress.outcomes.map((outcome): RequestState => {
      const { requestId, status } = outcome;
      if (outcome.kind === "given-up") return { kind: "failed", requestId, status, error: outcome.error };
      return { kind: "state", requestId, status: status ?? "UNKNOWN" };
    });
    const done = progress.outcomes.every(({ kind }) => kind === "final" || kind === "given-up");
    return {
      content: {
        ...statesContent([...states, ...failed]),
        done,
        waited_seconds: Math.round(elapsed()),
        next: done
          ? "research_output with the id of each request that is COMPLETED"
          : "research_wait with the same ids",
      },
    };
  },
});

interface Waiting {
  progress: Progress;
  /** Seconds since the call came. */
  elapsed: () => number;
  seconds: number;
}

/** Reports how far the wait is, at once and every few seconds, until `over` is aborted. Never rejects. */
async function reportProgress(
  clock: Clock,
  { progress: report }: ToolCall,
  { progress, elapsed, seconds }: Waiting,
  over: AbortSignal,
): Promise<void> {
  if (!report) return;
  while (!over.aborted) {
    const states = progress.outcomes.map(({ requestId, status }) => `${requestId} ${status ?? "?"}`);
    await report(elapsed(), Math.max(seconds, elapsed()), states.join(", ")).catch(() => {});
    await clock.sleep(REPORT_MS, over).catch(() => {});
  }
}
