import type { LimitOptions } from "../../../machine/machine.js";
import { type CreateBody, isFinal } from "../../../protocol/conversation.js";
import type { WatchOutcome } from "../../../workflows/follow.js";
import type { Ports } from "../../../workflows/ports.js";
import { fetchResult, whyNoResult } from "../../../workflows/results.js";
import { type Context, resumeCommand } from "../../context.js";
import { UnfinishedError, undelivered } from "../../errors.js";
import { completeRequest, readRequest, showRequest } from "../../input/create-request.js";
import { exitCodeOfOutcome } from "../../requests/answers.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { OnDone } from "../../requests/on-done.js";
import { endText } from "../../requests/progress-text.js";
import { type SubmitViewOptions, sayLeft, showSubmit } from "../../requests/submit.js";
import { checkFit, checkResultOptions, resultWords, sayLimits, showResult } from "../../results/show.js";
import { Interrupted, notifyEnd, type Terminal } from "../../terminal/reporter.js";
import type {
  NotifyOptions,
  OnDoneOptions,
  ProviderOptions,
  RequestOptions,
  ResultFlags,
} from "../definition.js";

export interface RunFlags
  extends RequestOptions,
    ProviderOptions,
    LimitOptions,
    Omit<RunViewOptions, "limit"> {
  dryRun?: boolean;
}

/** `create`, `watch` and `output` in one: stdout is the result. */
export async function run(ctx: Context, prompt: string | undefined, options: RunFlags): Promise<number> {
  // What would fail at the end fails before anything is spent.
  checkResultOptions(options, ctx.reporter.json);
  const body = await completeRequest(ctx, await readRequest(ctx, prompt, options), options);
  if (options.dryRun) return showRequest(ctx, body);
  const limit = ctx.hourlyLimit(options);
  return showRun(ctx, ctx.ports, body, { ...options, limit }, (id) =>
    resumeCommand(ctx.flags, "output", "-w", id, ...resultWords(options), ...schemaWords(ctx, options)),
  );
}

/** Without a history, the command that goes on needs the schema; one from stdin cannot be read again. */
function schemaWords(ctx: Context, { schema }: RunFlags): string[] {
  return schema === undefined || schema === "-" || ctx.history ? [] : ["--schema", schema];
}

export interface RunViewOptions
  extends FollowFlags,
    ResultFlags,
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
  const own = { print: false, answered: true, created: true, resume: resume && (() => goOn ?? "") };
  const [outcome] = await showFollow(terminal, ports, [target], { ...options, ...own });
  const done = OnDone.of(terminal, options.onDone);
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
    const named = goOn === undefined ? error : undelivered(error, requestId, goOn);
    throw UnfinishedError.unlessEnded(named, requestId, goOn);
  } finally {
    const status = outcome?.status ?? null;
    if (status !== null && isFinal(status)) done?.run({ requestId, status, file });
    await done?.drain();
    if (options.notify) await notifyEnd(terminal, endText([outcome ?? { requestId, status }]));
  }
  if (notSaved) throw notSaved;
  return done ? done.settle(0) : 0;
}

/** Throws why a request that ended has no result. Else the follow has said what there is to say: its exit code. */
export async function endWithoutResult(
  ports: Ports,
  outcome: WatchOutcome | undefined,
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
