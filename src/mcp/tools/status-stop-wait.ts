import type { Account } from "../../client/workflows/account.js";
import {
  fetchStates,
  findTarget,
  type NamedTarget,
  type StateResult,
  stopRequests,
} from "../../client/workflows/find-and-query-requests.js";
import { followRequests, WatchProgress } from "../../client/workflows/follow-requests.js";
import type { Clock } from "../../core/clock.js";
import { type Data, isFinal } from "../../core/protocol/conversation.js";
import {
  ASKS,
  defineTool,
  describeToolFailure,
  field,
  STATES,
  shape,
  type ToolCall,
} from "../define-tool.js";
import type { ToolSession } from "../tool-session.js";

const IDS = field.required(field.texts("Ids of requests; @last is the newest one."));

export const status = defineTool({
  name: "research_status",
  title: "Ask for the state of requests",
  description:
    "The state of each request now: PENDING, PROCESSING, COMPLETED, FAILED or STOPPED. To wait for the end, use research_wait.",
  fields: { ids: IDS },
  outputSchema: shape.object(STATES),
  annotations: ASKS,
  call: (session, { ids }, { signal }) =>
    fetchRequestStates(session, ids, (targets) => fetchStates(targets, { signal })),
});

export const stop = defineTool({
  name: "research_stop",
  title: "Stop requests for good",
  description:
    "Stop requests. Their results are lost, they cannot be restarted, and their cost is not refunded. Ask the user first.",
  fields: { ids: IDS },
  outputSchema: shape.object(STATES),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  changes: true,
  call: (session, { ids }, { signal }) =>
    fetchRequestStates(session, ids, (targets) => stopRequests(targets, { signal })),
});

/** The default wait in seconds, shorter than the 60 s after which many clients abandon a call. */
const DEFAULT_SECONDS = 45;
const MOST_SECONDS = 240;
/** How often progress is reported while nothing changes, ms. */
const REPORT_MS = 5_000;

export const wait = defineTool({
  name: "research_wait",
  title: "Wait for requests to end",
  description:
    "Wait until all requests have ended or the time is over, and return the state of each. If `done` is false, call it again. The research continues meanwhile, and cancelling the call does not stop it.",
  fields: {
    ids: IDS,
    seconds: field.number(`How long to wait. Default: ${DEFAULT_SECONDS}.`, 0, MOST_SECONDS, {
      isWhole: false,
    }),
  },
  outputSchema: shape.object({ ...STATES, done: shape.flag, waited_seconds: shape.count, next: shape.text }),
  annotations: ASKS,
  async call(session, { ids, seconds = DEFAULT_SECONDS }, call) {
    const account = session.requireConnected();
    const { clock } = account;
    const start = clock.monotonic();
    const { targets, failed } = findTargets(account, ids);
    const progress = new WatchProgress(targets.map(({ requestId }) => requestId));
    const measureElapsed = () => (clock.monotonic() - start) / 1_000;
    const reports = new AbortController();
    const reporting = reportWaitProgress(
      clock,
      call,
      { progress, elapsed: measureElapsed, seconds },
      reports.signal,
    );
    try {
      // A timeout of 0 would mean none, so use 1 ms: follow then polls once.
      const options = { timeout: Math.max(seconds * 1_000, 1), signal: call.signal };
      for await (const event of followRequests(targets, options)) progress.apply(event);
    } finally {
      reports.abort();
      await reporting;
    }
    const states = progress.outcomes.map((outcome): RequestState => {
      const { requestId, status } = outcome;
      if (outcome.kind === "given-up") return { requestId, status, error: outcome.error };
      return { requestId, status: status ?? "UNKNOWN" };
    });
    const done = progress.outcomes.every(({ kind }) => kind === "final" || kind === "given-up");
    return {
      content: {
        ...buildStatesReply([...states, ...failed]),
        done,
        waited_seconds: Math.round(measureElapsed()),
        next: done
          ? "research_output with the id of each request that is COMPLETED"
          : "research_wait with the same ids",
      },
    };
  },
});

/** Reports the progress of a wait of `seconds`, at once and then every few seconds, until `over` is aborted. Never rejects. */
async function reportWaitProgress(
  clock: Clock,
  { progress: report }: ToolCall,
  { progress, elapsed, seconds }: { progress: WatchProgress; elapsed: () => number; seconds: number },
  over: AbortSignal,
): Promise<void> {
  if (!report) return;
  while (!over.aborted) {
    const states = progress.outcomes.map(({ requestId, status }) => `${requestId} ${status ?? "?"}`);
    await report(elapsed(), Math.max(seconds, elapsed()), states.join(", ")).catch(() => {});
    await clock.sleep(REPORT_MS, over).catch(() => {});
  }
}

/** The state of one request, or the error for which it is unknown. */
interface RequestState {
  requestId: string;
  status: string | null;
  data?: Data;
  error?: unknown;
}

/** Asks the service for the state of the requests in a call. */
async function fetchRequestStates(
  session: ToolSession,
  ids: readonly string[],
  ask: (targets: NamedTarget[]) => AsyncIterable<StateResult> | Promise<StateResult[]>,
) {
  const { targets, failed } = findTargets(session.requireConnected(), ids);
  const states: RequestState[] = [];
  for await (const answer of await ask(targets)) {
    const { requestId } = answer.target;
    if (answer.kind === "failed") states.push({ requestId, status: null, error: answer.error });
    else states.push({ requestId, status: answer.data.status, data: answer.data });
  }
  return { content: buildStatesReply([...states, ...failed]) };
}

/** Finds the requests with these ids, each once, and lists the ids without a request. */
function findTargets(account: Account, ids: readonly string[]) {
  const targets = new Map<string, NamedTarget>();
  const failed: RequestState[] = [];
  for (const id of new Set(ids)) {
    try {
      const target = findTarget(account, id);
      targets.set(target.requestId, target);
    } catch (error) {
      failed.push({ requestId: id, status: null, error });
    }
  }
  return { targets: [...targets.values()], failed };
}

/** Converts states to the content of a result. Throws the first error if no state is known. */
function buildStatesReply(states: readonly RequestState[]): { requests: Data[] } {
  const [first] = states;
  if (first?.error !== undefined && states.every(({ status }) => status === null)) throw first.error;
  return {
    requests: states.map(({ requestId, status, data, error }) => ({
      ...data,
      ...{ request_id: requestId, status, final: status !== null && isFinal(status) },
      ...(error !== undefined && { error: describeToolFailure(error) }),
    })),
  };
}
