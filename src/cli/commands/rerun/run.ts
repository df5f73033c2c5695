import type { Context } from "../../context.js";
import { requestBody, showRequest } from "../../input/create-request.js";
import { submitWithinQuota } from "../../submit.js";
import { announce, type CreateOptions } from "../create/run.js";
import { requireEntry } from "../show/run.js";

/** A new request with the prompt and the schema of an old one. */
export async function rerun(ctx: Context, id: string, options: CreateOptions): Promise<number> {
  const entry = requireEntry(ctx, id);
  const body = requestBody(entry.prompt, entry.output_schema ?? undefined, entry.structured_output);
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  return announce(ctx, await submitWithinQuota(ctx, body, options), options);
}
