import type { Context } from "../context.js";
import { Interrupted } from "../errors.js";
import { follow, worstFollowed } from "../follow.js";
import { readRequest, showRequest } from "../request.js";
import { checkResultOptions, deliver } from "../result.js";
import { resumeCommand } from "../resume.js";
import { submit } from "../submit.js";
import { type CreateOptions, saySaved } from "./create.js";
import { endedWithout, type OutputOptions } from "./output.js";

export type RunOptions = CreateOptions & OutputOptions;

/** `create`, `watch` and `output` in one: stdout is the result. */
export async function run(ctx: Context, prompt: string | undefined, options: RunOptions): Promise<number> {
  checkResultOptions(options);
  const body = await readRequest(ctx, prompt, options);
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  const submitted = await submit(ctx, body);
  const requestId = submitted.data.request_id;
  await saySaved(ctx, submitted);
  await ctx.reporter.say(`created ${requestId}`);
  if (ctx.signal.aborted) throw interrupted(ctx, requestId);
  const entry = ctx.history?.find(requestId)[0];
  const followed = await follow(ctx, [{ requestId, entry }], {
    ...options,
    print: false,
    answered: true,
    resume: ["output", "-w"],
  });
  const code = worstFollowed(followed);
  if (code !== 0) return endedWithout(code, requestId);
  const data = await ctx.client.output(requestId, { signal: ctx.signal });
  await deliver(ctx, data, entry, options);
  if (submitted.notSaved) throw submitted.notSaved;
  return 0;
}

function interrupted(ctx: Context, requestId: string): unknown {
  const { reason } = ctx.signal;
  if (reason instanceof Interrupted) {
    reason.resume = `the research goes on; fetch the result with: ${resumeCommand(ctx, "output", "-w", requestId)}`;
  }
  return reason;
}
