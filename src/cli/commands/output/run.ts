import { fetchResult } from "../../../workflows/results.js";
import { resolveTarget } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { readGivenSchema } from "../../input/schema.js";
import { exitCodeOfOutcome } from "../../outcome.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { endWithoutResult } from "../../requests/run.js";
import { checkFit } from "../../results/check-fit.js";
import { sayLimits } from "../../results/limits.js";
import { checkResultOptions, type ResultOptions, resultWords } from "../../results/options.js";
import { showResult } from "../../results/show.js";
import { resumeCommand } from "../../resume.js";

export interface OutputFlags extends ResultOptions, FollowFlags {
  watch?: boolean;
  /** Whether a result that was cut short is printed. */
  partial?: boolean;
  /** A file, `-` for stdin, or JSON. */
  schema?: string;
}

/** Fetches the result of a completed conversation. */
export async function output(ctx: Context, id: string, options: OutputFlags): Promise<number> {
  checkResultOptions(options, ctx.reporter.json);
  const given = await readGivenSchema(options.schema, ctx.host.stdin, ctx.signal);
  const { ports, signal } = ctx;
  const target = resolveTarget(ports, id);
  const { requestId } = target;
  if (options.watch) {
    const flags = [
      ...resultWords(options),
      ...(options.partial ? ["--partial"] : []),
      ...(options.schema === undefined ? [] : ["--schema", options.schema]),
    ];
    const resume = () => resumeCommand(ctx.flags, "output", "-w", requestId, ...flags);
    const [outcome] = await showFollow(ctx, ports, [target], { ...options, print: false, resume });
    const isPart = options.partial && outcome?.status === "FAILED";
    if (outcome && exitCodeOfOutcome(outcome) !== 0 && !isPart)
      return endWithoutResult(ports, outcome, signal, { created: false });
  }
  const schema = given ?? target.entry?.output_schema ?? undefined;
  const result = await fetchResult(ports, target, { signal, partial: options.partial, schema });
  await sayLimits(ctx.reporter, result.data, requestId);
  const { prompt, created_at } = target.entry ?? {};
  const source = { requestId, origin: ports.origin, question: prompt, createdAt: created_at };
  await showResult(ctx, result, source, options);
  await checkFit(ctx, result, { requestId, schema }, options);
  return 0;
}
