import { LocalError } from "../../../store/errors.js";
import type { Context } from "../../context.js";
import { CliError } from "../../errors.js";
import { type FollowOptions, follow } from "../../follow.js";
import { type RequestOptions, readRequest, showRequest } from "../../input/create-request.js";
import { worstFollowed } from "../../outcome.js";
import { type QuotaOptions, sayLeft } from "../../quota.js";
import { type Submitted, submitWithinQuota } from "../../submit.js";

export interface CreateOptions extends RequestOptions, QuotaOptions, Partial<FollowOptions> {
  dryRun?: boolean;
  watch?: boolean;
}

/** Submits a prompt; the id is on stdout the moment it is safe on the disk. */
export async function create(
  ctx: Context,
  prompt: string | undefined,
  options: CreateOptions,
): Promise<number> {
  const body = await readRequest(ctx, prompt, options);
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  const submitted = await submitWithinQuota(ctx, body, options);
  return announce(ctx, submitted, options);
}

/** Prints a new request and, where asked, goes on as `watch`. */
export async function announce(ctx: Context, submitted: Submitted, options: CreateOptions): Promise<number> {
  const { data } = submitted;
  const requestId = data.request_id;
  await saySaved(ctx, submitted);
  await print(ctx, data);
  await sayLeft(ctx, options);
  if (submitted.notSaved) throw submitted.notSaved;
  ctx.signal.throwIfAborted();
  if (!options.watch) return 0;
  const entry = ctx.history?.find(requestId)[0];
  const followed = await follow(ctx, [{ requestId, entry }], {
    ...options,
    print: true,
    answered: true,
    resume: ["watch"],
  });
  return worstFollowed(followed);
}

/** Throws CliError `LOCAL_IO`, with the id, where that could not be printed. */
async function print({ reporter }: Context, data: Submitted["data"]): Promise<void> {
  const requestId = data.request_id;
  try {
    if (reporter.json) await reporter.resultJson(data);
    else await reporter.result(`${requestId}\n`);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new CliError("LOCAL_IO", `${requestId} was created, but ${error.message}`, { requestId });
  }
}

/** An id that is not on the disk is said wherever it can be, before it can be lost. */
export async function saySaved(ctx: Context, { data, notSaved }: Submitted): Promise<void> {
  if (!notSaved) return;
  const failure = new LocalError(`NOT SAVED: ${data.request_id} was created, but ${notSaved.message}`);
  await ctx.reporter.notice("NOT_SAVED", failure.message);
}
