import { type CreateBody, isFinal } from "../../protocol/conversation.js";
import type { Ports } from "../../workflows/ports.js";
import type { Outcome } from "../../workflows/progress.js";
import { fetchResult, whyNoResult } from "../../workflows/results.js";
import { Interrupted, UnfinishedError } from "../errors.js";
import { exitCodeOfOutcome } from "../outcome.js";
import { checkFit } from "../results/check-fit.js";
import { sayLimits } from "../results/limits.js";
import type { ResultOptions } from "../results/options.js";
import { showResult } from "../results/show.js";
import { notify } from "../terminal/attention.js";
import type { Terminal } from "../terminal/terminal.js";
import { type FollowFlags, showFollow } from "./follow.js";
import { type NotifyOptions, OnDone, type OnDoneOptions } from "./on-done.js";
import { endText } from "./progress-text.js";
import { sayLeft } from "./quota.js";
import { type SubmitViewOptions, showSubmit } from "./submit.js";

export interface RunViewOptions
  extends FollowFlags,
    ResultOptions,
    SubmitViewOptions,
    OnDoneOptions,
    NotifyOptions {}

/**
 * Submits, follows and delivers. `resume` gives the command that fetches the result later; undefined if nothing can,
 * and then nothing is said of the request either.
 */
export async function showRun(
  terminal: Terminal,
  ports: Ports,
  body: CreateBody,
  options: RunViewOptions,
  resume: ((requestId: string) => string) | undefined,
): Promise<number> {
  const { reporter, signal } = terminal;
  const { data, notSaved } = await showSubmit(terminal, ports, body, options);
  const requestId = data.request_id;
  const goOn = resume?.(requestId);
  if (resume) {
    await reporter.say(`created ${requestId}`);
    await sayLeft(reporter, ports, options.limit);
  }
  if (signal.aborted) throw interrupted(signal, requestId, goOn);
  const target = { requestId, entry: ports.history?.find(requestId)[0] };
  const view = {
    ...options,
    print: false,
    answered: true,
    created: true,
    resume: resume && (() => goOn ?? ""),
  };
  const [outcome] = await showFollow(terminal, ports, [target], view);
  const done = OnDone.of(terminal, options);
  let file: string | undefined;
  try {
    if (!outcome || exitCodeOfOutcome(outcome, { created: true }) !== 0)
      return await endWithoutResult(ports, outcome, signal);
    const result = await fetchResult(ports, target, { signal, schema: body.output_schema });
    await sayLimits(reporter, result.data, requestId);
    const source = { requestId, origin: ports.origin, question: body.prompt, createdAt: data.created_at };
    file = await showResult(terminal, result, source, options);
    await checkFit(terminal, result, { requestId, schema: body.output_schema }, options);
  } catch (error) {
    if (error instanceof Interrupted) throw interrupted(signal, requestId, goOn);
    throw UnfinishedError.unlessEnded(error, requestId, goOn);
  } finally {
    const status = outcome?.status ?? null;
    if (status !== null && isFinal(status)) done?.run({ requestId, status, file });
    await done?.drain();
    if (options.notify) await notify(terminal, endText([outcome ?? { requestId, status }]));
  }
  if (notSaved) throw notSaved;
  return done ? done.settle(0) : 0;
}

/** Throws why a request that ended has no result. Else the follow has said what there is to say: its exit code. */
export async function endWithoutResult(
  ports: Ports,
  outcome: Outcome | undefined,
  signal: AbortSignal,
  { created = true } = {},
): Promise<number> {
  if (!outcome) return 0;
  const { requestId, status } = outcome;
  if (status !== null && isFinal(status) && status !== "COMPLETED")
    throw await whyNoResult(ports, requestId, status, { signal });
  return exitCodeOfOutcome(outcome, { created });
}

function interrupted(signal: AbortSignal, requestId: string, goOn: string | undefined): unknown {
  const { reason } = signal;
  if (reason instanceof Interrupted) {
    reason.requestId = requestId;
    if (goOn) reason.resume = `nothing is lost; fetch the result with: ${goOn}`;
  }
  return reason;
}
