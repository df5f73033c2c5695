import type { StatusData } from "../../../client/client.js";
import { RefusedError, ResearchError } from "../../../client/errors.js";
import { withMember } from "../../../json/exact-json.js";
import type { Context } from "../../context.js";
import { worstOf } from "../../errors.js";
import { failureOf } from "../../failure.js";
import { resolveTargets, type Target } from "../../ids.js";
import { exitCodeOf, observe } from "../../outcome.js";
import { statusLine, statusWord } from "./view.js";

export interface StatusOptions {
  quiet?: boolean;
  exitStatus?: boolean;
}

/** Asks for the state of each id, all at once, and answers in the order given. */
export async function status(ctx: Context, ids: readonly string[], options: StatusOptions): Promise<number> {
  const targets = resolveTargets(ctx, ids);
  const { client, reporter } = ctx;
  const asked = targets.map((target) => client.status(target.requestId, { signal: ctx.signal }));
  const answers = await Promise.allSettled(asked);
  ctx.signal.throwIfAborted();
  const style = await reporter.style();
  const found: StatusData[] = [];
  const codes: number[] = [];
  for (const [i, answer] of answers.entries()) {
    const target = targets[i] as Target;
    if (answer.status === "rejected") {
      codes.push(await tell(ctx, answer.reason, target.requestId));
      continue;
    }
    const data = withMember(answer.value, "request_id", target.requestId);
    observe(ctx, target.entry, data.status);
    found.push(data);
    codes.push(options.exitStatus ? exitCodeOf(data.status) : 0);
    if (reporter.json) continue;
    const line = options.quiet
      ? statusWord(data.status, style)
      : statusLine(target.requestId, data.status, style);
    await reporter.result(`${line}\n`);
  }
  if (reporter.json && (targets.length > 1 || found.length > 0)) {
    await reporter.resultJson(targets.length > 1 ? found : found[0]);
  }
  return worstOf(codes);
}

/** Says one id's error on a line of its own and returns its exit code. What is no answer of the service is thrown. */
export async function tell(ctx: Context, error: unknown, requestId: string): Promise<number> {
  if (!(error instanceof ResearchError)) throw error;
  const failure = { ...failureOf(error), request_id: requestId };
  const named = error instanceof RefusedError && !ctx.reporter.json;
  await ctx.reporter.error(named ? { ...failure, message: `${requestId}: ${failure.message}` } : failure);
  return failure.exit_code;
}
