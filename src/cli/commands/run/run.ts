import type { LimitOptions } from "../../../machine/machine.js";
import type { Context } from "../../context.js";
import {
  completeRequest,
  type ProviderOptions,
  type RequestOptions,
  readRequest,
  showRequest,
} from "../../input/create-request.js";
import { type RunViewOptions, showRun } from "../../requests/run.js";
import { checkResultOptions, resultWords } from "../../results/options.js";
import { resumeCommand } from "../../resume.js";

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
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  const limit = ctx.hourlyLimit(options);
  return showRun(ctx, ctx.ports, body, { ...options, limit }, (id) =>
    resumeCommand(ctx.flags, "output", "-w", id, ...resultWords(options), ...schemaWords(ctx, options)),
  );
}

/** Without a history, the command that goes on needs the schema; one from stdin cannot be read again. */
function schemaWords(ctx: Context, { schema }: RunFlags): string[] {
  return schema === undefined || schema === "-" || ctx.history ? [] : ["--schema", schema];
}
