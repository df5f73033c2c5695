import { type CreateBody, isFinal } from "../../../protocol/conversation.js";
import type { Context } from "../../context.js";
import { Interrupted } from "../../errors.js";
import { follow } from "../../follow.js";
import { readRequest, showRequest } from "../../input/create-request.js";
import { OnDone, type OnDoneOptions } from "../../on-done.js";
import { sayLeft } from "../../quota.js";
import { checkFit, checkResultOptions, writeResult } from "../../result.js";
import { resumeCommand } from "../../resume.js";
import { submitWithinQuota } from "../../submit.js";
import { type CreateOptions, saySaved } from "../create/run.js";
import { endedWithout, type OutputOptions } from "../output/run.js";

export type RunOptions = CreateOptions & OutputOptions & OnDoneOptions;

/** `create`, `watch` and `output` in one: stdout is the result. */
export async function run(ctx: Context, prompt: string | undefined, options: RunOptions): Promise<number> {
  // What would fail at the end fails before anything is spent.
  checkResultOptions(options);
  const body = await readRequest(ctx, prompt, options);
  if (!options.dryRun) return perform(ctx, body, options, ["output", "-w"]);
  await showRequest(ctx, body);
  return 0;
}

/** Submits, follows and delivers. `resume`: the words of the command that fetches the result later, if any does. */
export async function perform(
  ctx: Context,
  body: CreateBody,
  options: RunOptions,
  resume: readonly string[] | undefined,
): Promise<number> {
  const submitted = await submitWithinQuota(ctx, body, options);
  const requestId = submitted.data.request_id;
  await saySaved(ctx, submitted);
  if (resume) {
    await ctx.reporter.say(`created ${requestId}`);
    await sayLeft(ctx, options);
  }
  if (ctx.signal.aborted) throw interrupted(ctx, requestId, resume);
  const entry = ctx.history?.find(requestId)[0];
  const target = { requestId, entry };
  const [followed] = await follow(ctx, [target], { ...options, print: false, answered: true, resume });
  const done = OnDone.of(ctx, options);
  const { status = null, exitCode = 0 } = followed ?? {};
  let file: string | undefined;
  try {
    if (exitCode !== 0) return await endedWithout(ctx, exitCode, followed);
    const data = await ctx.client.output(requestId, { signal: ctx.signal });
    file = await writeResult(ctx, data, options);
    await checkFit(ctx, data, entry, options);
  } catch (error) {
    throw error instanceof Interrupted ? interrupted(ctx, requestId, resume) : error;
  } finally {
    if (status !== null && isFinal(status)) done?.run({ requestId, status, file });
    await done?.settle(0);
  }
  if (submitted.notSaved) throw submitted.notSaved;
  return done ? done.settle(0) : 0;
}

function interrupted(ctx: Context, requestId: string, resume: readonly string[] | undefined): unknown {
  const { reason } = ctx.signal;
  if (reason instanceof Interrupted && resume) {
    reason.resume = `nothing is lost; fetch the result with: ${resumeCommand(ctx, ...resume, requestId)}`;
  }
  return reason;
}
